import fc from 'fast-check'
import { expect, test } from 'vitest'
import { queueIdOf, type Reply, ReplyReader, replyCharsMax, replyText, statusOf } from '../src/reply.ts'

function readAll(...chunks: (string | Buffer)[]) {
  const reader = new ReplyReader()
  const replies: Reply[] = []
  let fault: string | undefined
  for (const chunk of chunks) fault ??= reader.read(Buffer.from(chunk as string), (reply) => replies.push(reply))
  return { replies, fault, empty: reader.empty }
}

test('parses replies independently of how the bytes are split', () => {
  const lines = fc.array(fc.stringMatching(/^[ -~äß€😀]{0,40}$/u), { minLength: 1, maxLength: 4 })
  const reply = fc.record({ code: fc.integer({ min: 200, max: 599 }), lines })
  fc.assert(
    fc.property(fc.array(reply), fc.array(fc.nat(200)), (replies, cuts) => {
      const bytes = Buffer.from(
        replies
          .map(({ code, lines }) =>
            lines.map((line, i) => `${code}${i < lines.length - 1 ? '-' : ' '}${line}\r\n`).join(''),
          )
          .join(''),
      )
      const chunks: Buffer[] = []
      let at = 0
      for (const cut of cuts) {
        chunks.push(bytes.subarray(at, at + cut))
        at += cut
      }
      chunks.push(bytes.subarray(at))
      expect(readAll(...chunks)).toEqual({ replies, fault: undefined, empty: true })
    }),
  )
})

test('a text has the first characters of a long reply, none of them cut in half', () => {
  const long = { code: 550, lines: Array(30).fill('user '.repeat(100).trimEnd()) }
  expect(replyText(long)).toBe(`550 ${'user '.repeat(200)}`.slice(0, replyCharsMax).trimEnd())
  const half = replyText({ code: 550, lines: [`${'x'.repeat(replyCharsMax - 5)}\u{1f600}`] })
  expect(half).toBe(`550 ${'x'.repeat(replyCharsMax - 5)}`)
  expect(queueIdOf({ code: 250, lines: [`${'x'.repeat(replyCharsMax)} queued as 1234`] })).toBeNull()
})

test('accepts a bare LF and a code without text', () => {
  expect(readAll('220\r\n250-a\n250 b\n').replies).toEqual([
    { code: 220, lines: [''] },
    { code: 250, lines: ['a', 'b'] },
  ])
})

test('reports invalid input after the replies before it', () => {
  for (const line of ['hello', '', '25', '2500 x', '250x', '150 x', '650 x', '-250 x'])
    expect(readAll(`250 Ok\r\n${line}\r\n250 Ok\r\n`)).toMatchObject({
      replies: [{ code: 250 }],
      fault: expect.stringContaining('does not speak SMTP'),
    })
})

test('reports an endless reply before it exhausts the memory', () => {
  const line = `250-${'x'.repeat(60)}\r\n`
  expect(readAll(line.repeat(300)).fault).toMatch(/longer than 16384 bytes/)
  expect(readAll(`${line.repeat(300)}250 end\r\n`).fault).toMatch(/longer than 16384 bytes/)
  expect(readAll(...Array.from({ length: 300 }, () => line)).fault).toMatch(/longer than 16384 bytes/)
  expect(readAll('2'.repeat(17_000)).fault).toMatch(/longer than 16384 bytes/)
  expect(readAll(line.repeat(200)).fault).toBeUndefined()
})

test('returns the text of a reply on one line without control characters', () => {
  expect(replyText({ code: 550, lines: ['5.1.1 No\x1b[31m', 'such\tuser', ''] })).toBe('550 5.1.1 No [31m such user')
})

test('reads an enhanced status code that is at the start and matches the reply code', () => {
  const status = (code: number, ...lines: string[]) => statusOf({ code, lines })
  expect(status(550, '5.1.1 No such user')).toBe('5.1.1')
  expect(status(550, '5.1.10')).toBe('5.1.10')
  expect(status(550, 'No 5.1.1 user')).toBeNull()
  expect(status(550, '4.1.1 what')).toBeNull()
  expect(status(550, '5.1.1000 x')).toBeNull()
  expect(status(550, '5.1.1.1 x')).toBeNull()
})

test('finds the queue id in the replies of common relays', () => {
  const id = (text: string) => queueIdOf({ code: 250, lines: [text] })
  expect(id('2.0.0 Ok: queued as 4Zk1y83nQ0z9sZx')).toBe('4Zk1y83nQ0z9sZx')
  expect(id('OK id=1rXyZ2-0003kP-2N')).toBe('1rXyZ2-0003kP-2N')
  expect(id('2.0.0 45F8g1Yd021134 Message accepted for delivery')).toBe('45F8g1Yd021134')
  expect(id('2.6.0 <a@b> [InternalId=73169291280392, Hostname=X] Queued mail for delivery')).toBe('73169291280392')
  expect(id('Ok 0102018e6b4d1a2b-3c4d5e6f-0000-4a5b-8c9d-000000')).toBe(
    '0102018e6b4d1a2b-3c4d5e6f-0000-4a5b-8c9d-000000',
  )
  expect(id('Great success')).toBeNull()
})
