import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  close,
  deaf,
  hang,
  type RawSmtp,
  type RawSmtpOptions,
  reset,
  startRawSmtp,
} from '../../../test/support/raw-smtp.ts'
import { SmtpConnection } from '../src/connection.ts'
import { toWireData } from '../src/data.ts'
import { openWire, smtpLimits } from '../src/handshake.ts'
import type { Envelope, Mail, SendOutcome } from '../src/transport.ts'
import { parseSmtpUrl } from '../src/url.ts'

const envelope = { from: 'sender@example.com', to: 'ada@example.com' }
const raw = 'Subject: Hello\r\n\r\nHi Ada\r\n'
/** Only for the reply that a server withholds: on a busy machine, even a fast one may exceed it. */
const shortMs = 150
/** The same server with and without PIPELINING: every rejection must have the same outcome. */
const both = [{}, { extensions: [] as string[] }]

/** The limits apply after the handshake. */
async function connect(server: RawSmtp, limits = {}): Promise<SmtpConnection> {
  const { wire, extensions } = await openWire(parseSmtpUrl(server.url), smtpLimits, {})
  return new SmtpConnection(wire, extensions, { ...smtpLimits, ...limits })
}

const send = (connection: SmtpConnection, message: Mail['raw'] = raw, to: Envelope = envelope, free = () => {}) =>
  connection.send(to, toWireData(message), free)

/** Sends one email to a scripted server. */
async function sendTo(
  options: RawSmtpOptions,
  message?: Buffer | string,
  to?: Envelope,
  limits = {},
): Promise<SendOutcome> {
  await using server = await startRawSmtp(options)
  const connection = await connect(server, limits)
  const outcome = await send(connection, message, to)
  connection.quit()
  return outcome
}

test('returns the queue id of an accepted email, which arrives complete', async () => {
  for (const options of both) {
    await using server = await startRawSmtp(options)
    const connection = await connect(server)
    expect(await send(connection)).toEqual({
      kind: 'accepted',
      reply: '250 2.0.0 Ok: queued as RAW1',
      queueId: 'RAW1',
    })
    await send(connection, { lines: raw })
    const mail = { ...envelope, raw: Buffer.from(raw) }
    expect(server.mails).toEqual([mail, mail])
    connection.quit()
  }
})

test('sends the envelope at once with PIPELINING, and one command at a time without it', async () => {
  await using pipelining = await startRawSmtp()
  await send(await connect(pipelining))
  expect(pipelining.pieces.slice(1)).toEqual(['MAIL RCPT DATA'])

  await using plain = await startRawSmtp({ extensions: [] })
  await send(await connect(plain))
  expect(plain.pieces.slice(1)).toEqual(['MAIL', 'RCPT', 'DATA'])
})

test('with PIPELINING, sends the next email before the reply to the previous one, and assigns the replies correctly', async () => {
  await using server = await startRawSmtp({
    answer: ({ verb, nth }) => (verb === 'end' && nth === 1 ? '554 5.6.0 No' : undefined),
  })
  const connection = await connect(server)
  const outcomes: Promise<SendOutcome>[] = []
  const first = send(connection, raw, envelope, () => {
    expect(connection.quiet).toBe(false)
    outcomes.push(send(connection, raw, { ...envelope, to: 'bob@example.com' }))
  })
  expect(await first).toMatchObject({ kind: 'refused', stage: 'data' })
  expect(await outcomes[0]).toMatchObject({ kind: 'accepted', queueId: 'RAW2' })
  expect(server.mails.map((mail) => mail.to)).toEqual(['bob@example.com'])
})

test('without PIPELINING, waits for the outcome before the next email', async () => {
  await using server = await startRawSmtp({ extensions: [] })
  const connection = await connect(server)
  let freed = false
  expect(connection.quiet).toBe(true)
  const outcome = send(connection, raw, envelope, () => {
    freed = true
  })
  expect(connection.quiet).toBe(false)
  expect(await outcome).toMatchObject({ kind: 'accepted' })
  expect(connection.quiet).toBe(true)
  expect(freed).toBe(false)
})

for (const [verb, stage] of [
  ['MAIL', 'sender'],
  ['RCPT', 'recipient'],
  ['DATA', 'data'],
  ['end', 'data'],
] as const) {
  test(`a 5xx at ${verb} rejects the email at the stage "${stage}", a 4xx defers it`, async () => {
    for (const options of both) {
      const refused = await sendTo({
        ...options,
        answer: (step) => (step.verb === verb ? '550 5.7.1 No thanks' : undefined),
      })
      expect(refused).toEqual({
        kind: 'refused',
        stage,
        replyCode: 550,
        status: '5.7.1',
        reply: '550 5.7.1 No thanks',
      })
      const deferred = await sendTo({
        ...options,
        answer: (step) => (step.verb === verb ? '451-4.3.0 Busy\r\n451 4.3.0 later' : undefined),
      })
      expect(deferred).toEqual({
        kind: 'deferred',
        stage,
        replyCode: 451,
        status: '4.3.0',
        reply: '451 4.3.0 Busy 4.3.0 later',
      })
    }
  })

  test(`a connection that breaks, ends or hangs at ${verb} interrupts the email; maybeSent only after its end`, async () => {
    const short = verb === 'end' ? { dataEndMs: shortMs } : { commandMs: shortMs }
    for (const options of both)
      for (const fault of [reset, close, hang] as const) {
        const script: RawSmtpOptions = { ...options, answer: (step) => (step.verb === verb ? fault : undefined) }
        const outcome = await sendTo(script, raw, envelope, fault === hang ? short : {})
        expect(outcome).toMatchObject({ kind: 'interrupted', maybeSent: verb === 'end' })
        expect(outcome).toHaveProperty(
          'reason',
          expect.stringMatching(
            /^127\.0\.0\.1:\d+ (reset the connection|closed the connection|did not answer within 0.15 s)$/,
          ),
        )
      }
  })

  test(`garbage or an endless reply at ${verb} interrupts the email`, async () => {
    const endless = Array.from({ length: 400 }, () => `250-${'x'.repeat(100)}`).join('\r\n')
    for (const options of both)
      for (const nonsense of ['HTTP/1.1 400 Bad Request', '\0\x01', '999 What', endless, 'x'.repeat(20_000)]) {
        const outcome = await sendTo({ ...options, answer: (step) => (step.verb === verb ? nonsense : undefined) })
        expect(outcome).toMatchObject({ kind: 'interrupted', reason: expect.stringMatching(/invalid reply/) })
      }
  })
}

test('sends the next email on the same connection after a rejection, preceded by RSET', async () => {
  for (const options of both)
    for (const verb of ['MAIL', 'RCPT', 'DATA']) {
      await using server = await startRawSmtp({
        ...options,
        answer: (step) => (step.verb === verb && step.nth === 1 ? '550 5.1.1 No' : undefined),
      })
      const connection = await connect(server)
      expect(await send(connection)).toMatchObject({ kind: 'refused' })
      expect(await send(connection)).toMatchObject({ kind: 'accepted' })
      expect(await send(connection)).toMatchObject({ kind: 'accepted' })
      expect(server.commands.filter((command) => command === 'RSET')).toHaveLength(1)
      expect(server.connections()).toBe(1)
    }
})

test('sends only the end of the content if the relay expects it after rejecting the recipient', async () => {
  const script: Record<string, string> = { RCPT: '550 5.1.1 No', DATA: '354 Go', end: '554 5.5.1 No recipients' }
  await using server = await startRawSmtp({ answer: ({ verb, nth }) => (nth === 1 ? script[verb] : undefined) })
  const connection = await connect(server)
  expect(await send(connection)).toMatchObject({ kind: 'refused', stage: 'recipient', status: '5.1.1' })
  expect(await send(connection)).toMatchObject({ kind: 'accepted' })
  expect(server.mails).toHaveLength(1)
})

test('replies that concern the relay do not reject the email', async () => {
  for (const options of both) {
    for (const reply of ['421 4.3.2 Closing', '530 5.7.0 Authentication required', '503 AUTH first', '502 No'])
      expect(await sendTo({ ...options, answer: ({ verb }) => (verb === 'MAIL' ? reply : undefined) })).toMatchObject({
        kind: 'unreachable',
        reason: `the relay does not accept our email: ${reply}`,
      })
    expect(
      await sendTo({ ...options, answer: ({ verb }) => (verb === 'RCPT' ? '530 5.7.0 Log in' : undefined) }),
    ).toMatchObject({
      kind: 'unreachable',
    })
    for (const verb of ['RCPT', 'DATA', 'end'])
      expect(
        await sendTo({ ...options, answer: (step) => (step.verb === verb ? '421 4.4.5 Bye' : undefined) }),
      ).toMatchObject({
        kind: 'interrupted',
        maybeSent: false,
        reason: expect.stringContaining('421 4.4.5 Bye'),
      })
  }
})

test('an unexpected reply interrupts the email', async () => {
  for (const options of both) {
    for (const verb of ['MAIL', 'RCPT'])
      expect(await sendTo({ ...options, answer: (step) => (step.verb === verb ? '354 Go' : undefined) })).toMatchObject(
        {
          kind: 'interrupted',
          maybeSent: false,
        },
      )
    expect(await sendTo({ ...options, answer: ({ verb }) => (verb === 'DATA' ? '250 Ok' : undefined) })).toMatchObject({
      kind: 'interrupted',
      maybeSent: false,
    })
    expect(await sendTo({ ...options, answer: ({ verb }) => (verb === 'end' ? '354 More' : undefined) })).toMatchObject(
      {
        kind: 'interrupted',
        maybeSent: true,
      },
    )
  }
})

test('an unsolicited reply closes the connection', async () => {
  await using server = await startRawSmtp({
    answer: ({ verb }) => (verb === 'end' ? '250 Ok\r\n250 And one more' : undefined),
  })
  const connection = await connect(server)
  const lost = new Promise<void>((resolve) => connection.onLost(resolve))
  expect(await send(connection)).toMatchObject({ kind: 'accepted' })
  await lost
  expect(connection.lost).toBe(true)
})

test('rejects an email above the relay’s size limit without sending it', async () => {
  await using server = await startRawSmtp({ extensions: ['SIZE 100'] })
  const connection = await connect(server)
  expect(await send(connection, 'x'.repeat(101))).toMatchObject({ kind: 'refused', stage: 'data', replyCode: 552 })
  expect(await send(connection, `${'x'.repeat(98)}\r\n`)).toMatchObject({ kind: 'accepted' })
  expect(server.commands).toContain('MAIL FROM:<sender@example.com> SIZE=100')
  expect(server.commands.filter((command) => command.startsWith('MAIL'))).toHaveLength(1)
})

test('declares 8-bit email, and rejects it if the relay does not support it', async () => {
  const grüße = 'Subject: x\r\n\r\nGrüße\r\n'
  for (const message of [grüße, Buffer.from(grüße)]) {
    await using server = await startRawSmtp()
    expect(await send(await connect(server), message)).toMatchObject({ kind: 'accepted' })
    expect(server.commands[1]).toMatch(/ BODY=8BITMIME$/)
    expect(server.mails[0]!.raw.toString()).toBe(grüße)
    expect(await sendTo({ extensions: ['PIPELINING'] }, message)).toMatchObject({ kind: 'refused', status: '5.6.3' })
  }
})

test('sends non-ASCII addresses with SMTPUTF8, and rejects them if the relay does not support it', async () => {
  const to = { from: 'sender@example.com', to: 'jürgen@example.com' }
  await using server = await startRawSmtp()
  const connection = await connect(server)
  const next: Promise<SendOutcome>[] = []
  // Bytes directly followed by text, so that both encodings occur in the same turn.
  const first = send(connection, Buffer.from('Grüße\r\n'), to, () => next.push(send(connection, 'Grüße', to)))
  expect(await first).toMatchObject({ kind: 'accepted' })
  expect(await next[0]).toMatchObject({ kind: 'accepted' })
  expect(server.commands[1]).toMatch(/ BODY=8BITMIME SMTPUTF8$/)
  expect(server.mails.map((mail) => [mail.to, mail.raw.toString()])).toEqual([
    ['jürgen@example.com', 'Grüße\r\n'],
    ['jürgen@example.com', 'Grüße\r\n'],
  ])

  const refused = await sendTo({ extensions: ['8BITMIME'] }, raw, to)
  expect(refused).toMatchObject({ kind: 'refused', stage: 'recipient', status: '5.6.7' })
  const sender = await sendTo({ extensions: ['8BITMIME'] }, raw, { from: 'jürgen@example.com', to: 'a@b.example' })
  expect(sender).toMatchObject({ kind: 'refused', stage: 'sender', status: '5.6.7' })
})

test('no address can inject a command or a parameter', async () => {
  await using server = await startRawSmtp()
  const connection = await connect(server)
  for (const bad of [
    '',
    'ada',
    'a@b>\r\nRCPT TO:<eve@b',
    'a@b\r\nDATA',
    'a@b> NOTIFY=NEVER',
    'a b@c',
    'a@b\0',
    `a@${'b'.repeat(320)}`,
  ]) {
    expect(await send(connection, raw, { from: 's@example.com', to: bad })).toMatchObject({
      kind: 'refused',
      stage: 'recipient',
      status: '5.1.3',
    })
    if (bad !== '')
      expect(await send(connection, raw, { from: bad, to: 'ada@example.com' })).toMatchObject({ stage: 'sender' })
  }
  expect(server.commands).toHaveLength(1)
  for (const good of ['"a b"@example.com', 'o’neil@example.com', 'a+b=c@[127.0.0.1]', "!#$%&'*/=?^_`{|}~-@x.example"])
    expect(await send(connection, raw, { from: '', to: good })).toMatchObject({ kind: 'accepted' })
})

test('a relay that stops reading a large email interrupts it', async () => {
  await using server = await startRawSmtp({ answer: ({ verb }) => (verb === 'DATA' ? deaf : undefined) })
  const connection = await connect(server, { pieceMs: shortMs })
  async function* endless() {
    for (;;) yield Buffer.alloc(256 * 1024, 'x')
  }
  expect(await send(connection, { size: 1_000, isAscii: true, chunks: endless })).toEqual({
    kind: 'interrupted',
    reason: expect.stringContaining('did not read an email'),
    maybeSent: false,
  })
})

test('arbitrary emails arrive byte for byte in sequence', async () => {
  for (const options of both) {
    await using server = await startRawSmtp({ extensions: [...(options.extensions ?? ['PIPELINING']), '8BITMIME'] })
    const connection = await connect(server)
    const tricky = fc.constantFrom('', '.', '..', '.x', '.\t', 'MAIL FROM:<a@b>', '354')
    const text = fc.oneof(tricky, fc.string({ unit: 'binary' })).map((line) => line.replace(/[\r\n]/g, ''))
    const bytes = fc.uint8Array().map((line) => Buffer.from(line.filter((byte) => byte !== 10 && byte !== 13)))
    const asLines = (lines: (string | Buffer)[]) =>
      Buffer.concat([...lines, ''].flatMap((line) => [Buffer.from(line as string), Buffer.from('\r\n')]))
    await fc.assert(
      fc.asyncProperty(fc.array(text), fc.array(fc.oneof(text, bytes)), async (lines, byteLines) => {
        for (const message of [asLines(lines).toString(), asLines(byteLines)]) {
          await send(connection, message)
          const sent = Buffer.from(message as string).toString('latin1')
          expect(server.mails.pop()!.raw.toString('latin1')).toBe(sent)
        }
      }),
    )
  }
})

test('an email with any line endings arrives as one email with CRLF', async () => {
  await using server = await startRawSmtp({ extensions: ['PIPELINING', '8BITMIME'] })
  const connection = await connect(server)
  const pieces = fc.array(fc.constantFrom('\r', '\n', '\r\n', '.', 'a', 'DATA'), { minLength: 1 })
  await fc.assert(
    fc.asyncProperty(pieces, async (parts) => {
      const message = parts.join('')
      const chunks = async function* () {
        for (const part of parts) yield Buffer.from(part)
      }
      await send(connection, message)
      await send(connection, { size: message.length, isAscii: true, chunks })
      const expected = message.replace(/\r\n|\r|\n/g, '\r\n').replace(/(?<!\r\n)$/, '\r\n')
      expect(server.mails.splice(0).map((mail) => mail.raw.toString())).toEqual([expected, expected])
    }),
  )
})
