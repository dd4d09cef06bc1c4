import { expect, test } from 'vitest'
import { classifyBounce } from '../src/classify-bounce.ts'
import { deliveryStatus, mail, notice, ourAddress, report, returnedHeaders } from './build-email.ts'

const failed = `
Final-Recipient: rfc822; Ada@Example.com
Action: failed
Status: 5.1.1
Diagnostic-Code: smtp; 550 5.1.1 <ada@example.com>: Recipient address rejected:
    User unknown in virtual mailbox table
`

test('a delivery-status part yields recipient, kind, codes, reason and diagnostic', async () => {
  const { results } = await classifyBounce(deliveryStatus(failed))
  expect(results).toEqual([
    {
      recipient: 'ada@example.com',
      kind: 'hard',
      status: '5.1.1',
      replyCode: 550,
      reason: 'user_unknown',
      confidence: 'high',
      evidence: '550 5.1.1 <ada@example.com>: Recipient address rejected: User unknown in virtual mailbox table',
      diagnostic: '550 5.1.1 <ada@example.com>: Recipient address rejected: User unknown in virtual mailbox table',
    },
  ])
})

test('a report carries the ids that match it with the sent message', async () => {
  const { results: _, ...found } = await classifyBounce(
    deliveryStatus(`Original-Envelope-Id: env-7\n\n${failed.trim()}`),
  )
  expect(found).toEqual({
    originalMessageId: 'msg-1@sender.example',
    returnAddresses: [ourAddress, 'hello@sender.example'],
    queueIds: ['4CAFE12345', '4FACE54321'],
    envelopeId: 'env-7',
  })
})

test('bytes and text of the same mail get the same report', async () => {
  const text = deliveryStatus(failed)
  expect(await classifyBounce(new TextEncoder().encode(text))).toEqual(await classifyBounce(text))
})

test('each recipient of a report is judged alone', async () => {
  const { results } = await classifyBounce(
    deliveryStatus(`
Final-Recipient: rfc822; ada@example.com
Action: failed
Status: 5.2.2
Diagnostic-Code: smtp; 552 5.2.2 Mailbox full

Final-Recipient: rfc822; bob@example.com
Action: failed
Status: 5.1.1
Diagnostic-Code: smtp; 550 5.1.1 No such user

Final-Recipient: rfc822; eve@example.com
Action: relayed
Status: 2.0.0
`),
  )
  expect(results.map(({ recipient, kind, reason }) => [recipient, kind, reason])).toEqual([
    ['ada@example.com', 'soft', 'mailbox_full'],
    ['bob@example.com', 'hard', 'user_unknown'],
    ['eve@example.com', 'none', 'delivered'],
  ])
})

test('a vague status is replaced by the code of the receiving server or the notice', async () => {
  const vague = 'Final-Recipient: rfc822; ada@example.com\nAction: failed\nStatus: 5.0.0\n'
  const byDiagnostic = await classifyBounce(
    deliveryStatus(`${vague}Diagnostic-Code: smtp; 550 5.1.1 Invalid recipient`),
  )
  const byNotice = await classifyBounce(
    deliveryStatus(
      vague,
      '<ada@example.com>: host mx.example.com said: 550 no such user (in reply to RCPT TO command)',
    ),
  )
  expect(byDiagnostic.results[0]).toMatchObject({ kind: 'hard', status: '5.1.1', replyCode: 550 })
  expect(byNotice.results[0]).toMatchObject({ kind: 'hard', reason: 'user_unknown', replyCode: 550 })
})

test('a reply that begins with the address of the recipient is a reply to RCPT', async () => {
  const fields = (words: string) =>
    `Final-Recipient: rfc822; ada@docomo.ne.jp\nAction: failed\nStatus: 5.0.0\nDiagnostic-Code: smtp; 550 ${words}`
  const toRcpt = await classifyBounce(deliveryStatus(fields('<ada@docomo.ne.jp>: User unknown')))
  const toUnknownCommand = await classifyBounce(deliveryStatus(fields(': User unknown')))
  expect(toRcpt.results[0]).toMatchObject({ kind: 'hard', reason: 'user_unknown' })
  expect(toUnknownCommand.results[0]).toMatchObject({ kind: 'soft', reason: 'filtered' })
})

test('if report and notice disagree about a mailbox, the soft reason wins', async () => {
  const vague = 'Final-Recipient: rfc822; ada@example.com\nAction: failed\nStatus: 5.0.0\n'
  const words = 'The account is disabled.\n\n<ada@example.com>: 550 user unknown (in reply to RCPT TO command)'
  const { results } = await classifyBounce(deliveryStatus(vague, words))
  expect(results[0]).toMatchObject({ kind: 'soft', reason: 'mailbox_suspended' })
})

test('a report of a delayed delivery is soft with the reason delayed', async () => {
  const { results } = await classifyBounce(
    deliveryStatus(
      'Final-Recipient: rfc822; ada@example.com\nAction: delayed\nStatus: 4.4.1\nDiagnostic-Code: smtp; 550 5.1.1 x',
    ),
  )
  expect(results[0]).toMatchObject({ kind: 'soft', reason: 'delayed' })
})

test('a success report is not a bounce', async () => {
  const { results } = await classifyBounce(
    deliveryStatus('Final-Recipient: rfc822; ada@example.com\nAction: delivered\nStatus: 2.1.5', 'It was delivered.'),
  )
  expect(results).toMatchObject([{ recipient: 'ada@example.com', kind: 'none', reason: 'delivered', status: '2.1.5' }])
})

test('the original recipient is used if the final one is not an address', async () => {
  const fields =
    'Final-Recipient: LOCAL; carol\nOriginal-Recipient: rfc822; carol@example.com\nAction: failed\nStatus: 5.2.2'
  const { results } = await classifyBounce(deliveryStatus(fields))
  expect(results[0]?.recipient).toBe('carol@example.com')
})

test('status fields pasted into the text count as a report', async () => {
  const delayed = 'Final-Recipient: rfc822; bob@example.com\nAction: delayed\nStatus: 4.4.1\n'
  const { results } = await classifyBounce(
    notice(`It could not be delivered.\n\nTechnical report:\n${failed}\n${delayed}`),
  )
  expect(results).toMatchObject([
    { recipient: 'ada@example.com', kind: 'hard', status: '5.1.1' },
    { recipient: 'bob@example.com', kind: 'soft', reason: 'delayed' },
  ])
})

test('a report with a wrong boundary is read', async () => {
  const broken = deliveryStatus(failed).replace('boundary="part-of-report"', 'boundary="another"')
  const { results, originalMessageId } = await classifyBounce(broken)
  expect(results).toMatchObject([{ recipient: 'ada@example.com', kind: 'hard', status: '5.1.1' }])
  expect(originalMessageId).toBe('msg-1@sender.example')
})

test('a bounce wrapped in a notice of a gateway is found', async () => {
  const wrapped = report([
    { type: 'text/plain', body: 'The following message could not be delivered.' },
    { type: 'message/rfc822', body: deliveryStatus(failed).replaceAll('part-of-report', 'inner') },
  ])
  const { results, originalMessageId } = await classifyBounce(wrapped)
  expect(results).toMatchObject([{ recipient: 'ada@example.com', kind: 'hard' }])
  expect(originalMessageId).toBe('msg-1@sender.example')
})

test('a bounce without a recipient concerns the recipient of the returned message', async () => {
  const { results } = await classifyBounce(
    report([
      { type: 'text/plain', body: 'Message could not be delivered to mobile: mailbox full' },
      { type: 'text/rfc822-headers', body: returnedHeaders },
    ]),
  )
  expect(results).toMatchObject([{ recipient: 'ada@example.com', kind: 'soft', reason: 'mailbox_full' }])
})

test('a mail with the From line of an mbox file is read', async () => {
  const { results } = await classifyBounce(`From MAILER-DAEMON Thu Apr 29 23:34:45 2010\r\n${deliveryStatus(failed)}`)
  expect(results).toMatchObject([{ recipient: 'ada@example.com', kind: 'hard' }])
})

test('a notice that has only HTML is read', async () => {
  const html = `<html><head><style>p { color: red }</style></head><body><p>Your message to <b>ada@example.com</b> couldn't be
    delivered.</p><p>Remote Server returned &lt;550 5.1.10 RESOLVER.ADR.RecipientNotFound; not found&gt;</p></body></html>`
  const { results } = await classifyBounce(
    notice(btoa(html), { 'Content-Type': 'text/html; charset=utf-8', 'Content-Transfer-Encoding': 'base64' }),
  )
  expect(results).toMatchObject([{ recipient: 'ada@example.com', kind: 'hard', status: '5.1.10' }])
  expect(results[0]?.diagnostic).toContain('returned <550 5.1.10')
})

test('a wrong charset hides neither codes nor addresses', async () => {
  const text = notice('', { 'Content-Type': 'text/plain; charset=no-such-charset' })
  const words = 'Zustellung an <ada@example.com> fehlgeschlagen: 550 5.1.1 Empf\xe4nger unbekannt'
  const { results } = await classifyBounce(Buffer.from(text + words, 'latin1'))
  expect(results).toMatchObject([{ recipient: 'ada@example.com', kind: 'hard', status: '5.1.1' }])
})

test('a truncated report yields the fields it contains', async () => {
  const whole = deliveryStatus(failed)
  const { results } = await classifyBounce(whole.slice(0, whole.indexOf('User unknown')))
  expect(results).toMatchObject([{ recipient: 'ada@example.com', kind: 'hard', status: '5.1.1' }])
})

test('a sender who wrote to their own address is found as the recipient', async () => {
  const { results } = await classifyBounce(
    mail(
      { 'Return-Path': '<>', From: 'MAILER-DAEMON@relay.example', To: 'ada@example.com', Subject: 'failure notice' },
      '<ada@example.com>:\nSorry, no mailbox here by that name. (#5.1.1)\n',
    ),
  )
  expect(results).toMatchObject([{ recipient: 'ada@example.com', kind: 'hard' }])
})
