import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type BounceReport, classifyBounce } from '../src/classify-bounce.ts'
import { classifyReply } from '../src/classify-reply.ts'
import { deliveryStatus, feedback, notice, report, returnedHeaders } from './build-email.ts'

const runs = 200
const resultsMax = 10
const kinds = ['hard', 'soft', 'complaint', 'none']

function expectSound({ results }: BounceReport): void {
  expect(results.length).toBeGreaterThan(0)
  expect(results.length).toBeLessThanOrEqual(resultsMax)
  for (const { recipient, kind, status, replyCode, confidence } of results) {
    expect(kinds).toContain(kind)
    expect(recipient === null || recipient.includes('@')).toBe(true)
    expect(status === null || /^[245]\.\d\.\d{1,3}$/.test(status)).toBe(true)
    expect(replyCode === null || (replyCode >= 400 && replyCode < 600)).toBe(true)
    // A temporary status can never cost anybody the address.
    if (status?.startsWith('4')) expect(kind).not.toBe('hard')
    if (confidence === 'low') expect(kind).not.toBe('hard')
  }
}

test('arbitrary bytes yield a valid report', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 4096 }), async (bytes) => expectSound(await classifyBounce(bytes))),
    { numRuns: runs },
  )
})

// What bounces are made of, so that random mails come near to real ones.
const pieces = [
  'From: MAILER-DAEMON@relay.example\n',
  'Return-Path: <>\n',
  'Subject: Undelivered Mail\n',
  'Content-Type: multipart/report; boundary="b"\n',
  'Content-Type: message/delivery-status\n',
  'Content-Type: message/feedback-report\n',
  'Content-Type: message/rfc822\n',
  'Content-Transfer-Encoding: base64\n',
  'Final-Recipient: rfc822; ada@example.com\n',
  'Final-Recipient: rfc822;\n',
  'Action: failed\n',
  'Status: 4.4.7\n',
  'Status: 5.1.1 (bad)\n',
  'Diagnostic-Code: smtp; 550 5.1.1 <ada@example.com>... User unknown\n',
  'Original-Rcpt-To: ada@example.com\n',
  '--b\n',
  '--b--\n',
  '\n',
  '<ada@example.com>: mailbox full\n',
  '>>> RCPT To:<ada@example.com>\n<<< 450 try later\n',
  '--- Below this line is a copy of the message.\n',
  '{"notificationType":"Bounce","bounce":{"bouncedRecipients":[{"emailAddress":1}]}}\n',
  '@@ <> <<>> "" =?utf-8?b?////?= \u0000\ufffd\n',
]

test('random combinations of bounce fragments yield a valid report', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...pieces), { maxLength: 40 }), async (parts) =>
      expectSound(await classifyBounce(parts.join(''))),
    ),
    { numRuns: runs },
  )
})

const wholeMails = [
  deliveryStatus('Final-Recipient: rfc822; ada@example.com\nAction: failed\nStatus: 5.1.1'),
  feedback('Feedback-Type: abuse\nOriginal-Rcpt-To: ada@example.com\n'),
  notice(`<ada@example.com>: host mx said: 550 5.1.1 no such user\n\n${returnedHeaders}`),
]

test('corrupted real mails yield a valid report', async () => {
  const damage = fc.record({
    at: fc.nat({ max: 2000 }),
    cut: fc.nat({ max: 200 }),
    put: fc.uint8Array({ maxLength: 20 }),
  })
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...wholeMails), fc.array(damage, { maxLength: 8 }), async (text, damages) => {
      let bytes = Buffer.from(text)
      for (const { at, cut, put } of damages) {
        bytes = Buffer.concat([bytes.subarray(0, at), put, bytes.subarray(at + cut)])
      }
      expectSound(await classifyBounce(bytes))
    }),
    { numRuns: runs },
  )
})

test('every reply yields a verdict, and a temporary one is soft', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 400, max: 499 }), (text, replyCode) => {
      expect(['hard', 'soft']).toContain(classifyReply({ text }).kind)
      expect(classifyReply({ text, replyCode, status: '4.0.0' }).kind).toBe('soft')
    }),
    { numRuns: runs },
  )
})

// A rule whose time grew with more than the length would need minutes for these: they are a hundred times a usual bounce.
const hugeChars = 1024 * 1024
const cpuSecondsMax = 20
const repeat = (piece: string) => piece.repeat(Math.ceil(hugeChars / piece.length))
const manyAddresses = (between: string) =>
  Array.from({ length: 40_000 }, (_, n) => `user${n}@example.com`).join(between)
const huge: [what: string, raw: string][] = [
  ['of blanks', notice(repeat(' '))],
  ['of empty lines', notice(repeat('\n'))],
  ['of at signs', notice(repeat('@'))],
  ['of addresses', notice(repeat('<ada@example.com>: no\n'))],
  ['of codes', notice(repeat('550 5.1.1 '))],
  ['of open tags', notice(repeat('<style'), { 'Content-Type': 'text/html' })],
  ['of boundaries', report([{ type: 'text/plain', body: repeat('--part-of-report\n') }])],
  ['of one header', notice('', { 'X-Long': repeat('a ') })],
  ['of recipients', deliveryStatus(repeat('Final-Recipient: rfc822; ada@example.com\nAction: failed\n\n'))],
  ['of failed recipients in a header', notice('550 no such user', { 'X-Failed-Recipients': manyAddresses(', ') })],
  ['of recipients in the text', notice(`<${manyAddresses('>: 550 no such user\n\n<')}>: 550 no such user`)],
  ['of recipients on one line', notice(`Delivery to ${manyAddresses(' ')} failed`)],
  ['of encoded words', notice('', { Subject: repeat('=?utf-8?q?a?= ') })],
  ['of encoded blanks', notice('no', { 'Return-Path': `=?utf-8?q?${repeat('_').slice(0, 200_000)}?=<` })],
  ['of one long line', notice(`${repeat('mailbox ')} is full`)],
  ['of a phrase that never ends', notice(repeat('user account mailbox recipient '))],
  ['of bounces in bounces', repeat(notice('Mail delivery failed\n\n--- Original message follows.\n\n'))],
  ['of braces', notice(repeat('{"a":['))],
  ['of feedback types', notice(repeat('Feedback-Type: abuse '))],
]

for (const [what, raw] of huge) {
  test(`a huge mail ${what} yields a valid report in little time`, async () => {
    const before = process.cpuUsage()
    expectSound(await classifyBounce(raw))
    const { user, system } = process.cpuUsage(before)
    expect((user + system) / 1e6).toBeLessThan(cpuSecondsMax)
  })
}

test('a report with too many recipients is truncated', async () => {
  const fields = Array.from(
    { length: 3000 },
    (_, n) => `Final-Recipient: rfc822; user${n}@example.com\nAction: failed\n`,
  )
  const { results } = await classifyBounce(deliveryStatus(fields.join('\n')))
  expect(results).toHaveLength(resultsMax)
})
