import { expect, test } from 'vitest'
import { classifyReply } from '../src/classify-reply.ts'

const replies: [text: string, kind: 'hard' | 'soft', reason: string][] = [
  ['550 5.1.1 <ada@example.com>: Recipient address rejected: User unknown', 'hard', 'user_unknown'],
  ['550 5.1.2 Bad destination system address', 'hard', 'host_unknown'],
  ['501 5.1.3 Bad recipient address syntax', 'hard', 'user_unknown'],
  ['550 5.1.6 Mailbox has moved', 'hard', 'address_moved'],
  ['550 5.1.10 RESOLVER.ADR.RecipientNotFound', 'hard', 'user_unknown'],
  ['550 No such user here', 'hard', 'user_unknown'],
  ['550 Requested action not taken: mailbox unavailable', 'hard', 'user_unknown'],
  ['550 5.4.1 Recipient address rejected: Access denied. AS(201806281)', 'hard', 'user_unknown'],
  ['556 5.1.10 Recipient address has null MX', 'hard', 'user_unknown'],
  ['550 5.2.1 The email account that you tried to reach is disabled.', 'hard', 'mailbox_disabled'],
  ['550 5.2.1 The user is receiving mail at a rate that prevents additional messages', 'soft', 'rate_limited'],
  ['552 5.2.2 Mailbox full', 'soft', 'mailbox_full'],
  ['552 sorry, the mailbox is over quota (#5.1.1)', 'soft', 'mailbox_full'],
  ['452 4.2.2 The email account that you tried to reach is over quota', 'soft', 'mailbox_full'],
  ['552 5.3.4 Message size exceeds fixed limit', 'soft', 'message_too_big'],
  ['554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org', 'soft', 'blocked'],
  ['550 5.7.1 <ada@example.com>: Recipient address rejected: user unknown or not welcome', 'soft', 'policy'],
  ['550 5.7.26 Unauthenticated email is not accepted due to the domain’s DMARC policy', 'soft', 'authentication'],
  ['554 5.7.1 <ada@example.com>: Relay access denied', 'soft', 'relaying_denied'],
  ['550 5.6.0 Message content rejected', 'soft', 'content'],
  ['550 5.1.8 Domain of sender address does not exist', 'soft', 'sender_refused'],
  ['550 5.1.1 your ip is on our blocklist', 'soft', 'blocked'],
  ['450 4.1.1 <ada@example.com>: Recipient address rejected: User unknown', 'soft', 'user_unknown'],
  ['451 4.7.1 Greylisting in action, please come back later', 'soft', 'blocked'],
  ['421 Service not available', 'soft', 'system'],
  ['554 something nobody has ever written before', 'soft', 'undetermined'],
  ['550 5.0.0', 'soft', 'undetermined'],
  ['', 'soft', 'undetermined'],
]

for (const [text, kind, reason] of replies) {
  test(`to RCPT, “${text}” is ${kind}: ${reason}`, () => {
    expect(classifyReply({ text })).toMatchObject({ kind, reason })
  })
}

test('given codes win over codes in the text', () => {
  expect(classifyReply({ replyCode: 550, status: '5.1.1', text: '4.2.2 whatever 452' })).toEqual({
    kind: 'hard',
    reason: 'user_unknown',
    status: '5.1.1',
    replyCode: 550,
    confidence: 'medium',
    evidence: null,
  })
})

test('missing codes are read from the text', () => {
  expect(classifyReply({ text: '550-5.2.2 over quota' })).toMatchObject({ status: '5.2.2', replyCode: 550 })
})

test('“no such user” in reply to DATA is soft', () => {
  expect(classifyReply({ text: '550 no such user', command: 'data' })).toMatchObject({
    kind: 'soft',
    reason: 'filtered',
  })
})

test('a rejected sender is soft', () => {
  expect(classifyReply({ text: '550 no such domain', command: 'mail' })).toMatchObject({
    kind: 'soft',
    reason: 'sender_refused',
  })
  expect(classifyReply({ text: '550 host not found', command: 'helo' }).kind).toBe('soft')
})

test('words inside an address or a link are ignored', () => {
  const text = '550 5.1.1 <spam@example.com> unknown, see https://example.com/spam'
  expect(classifyReply({ text }).kind).toBe('hard')
})

test('a phrase inside a longer word is ignored', () => {
  expect(classifyReply({ text: '550 5.1.1 not known in Marblehead' }).kind).toBe('hard')
})

test('the status with a detail wins over a vague one', () => {
  expect(classifyReply({ text: '554 5.0.0 failed (#5.2.2)' }).status).toBe('5.2.2')
})

test('a version or an IP address is not taken for a status', () => {
  expect(classifyReply({ text: '550 no (Exim 4.92.3) for 5.1.1.9' }).status).toBeNull()
})

test('only the start of a long reply is classified', () => {
  const filler = 'a'.repeat(1_000)
  expect(classifyReply({ replyCode: 550, text: `550 ${filler} user unknown` }).reason).toBe('undetermined')
  expect(classifyReply({ replyCode: 550, text: `550 user unknown ${filler}` }).reason).toBe('user_unknown')
})

/** Texts in which many phrases begin, and few or none end. The measure is a refusal of usual length. */
const hostile = ['user ', '550-', '5.1.1 ', 'a@b ', 'a', 'mailbox account user recipient ', 'the user mail was '].map(
  (piece) => `550 ${piece.repeat(1_600)}`,
)
const end = ' and and and and and and and unknown not found full disabled'
const usualReply =
  '550 5.1.1 The email account that you tried to reach does not exist. Please try double-checking the recipient email address for typos.'
const timesUsualMax = 15

test.each(hostile.flatMap((text) => [text, `${text.slice(0, 940)}${end}`]))(
  'a hostile reply takes little time: %.30s',
  (text) => {
    const cpuOf = (reply: string) => {
      const classify = () => classifyReply({ replyCode: 550, text: reply })
      for (let run = 0; run < 50; run++) classify()
      const before = process.cpuUsage()
      for (let run = 0; run < 50; run++) classify()
      return process.cpuUsage(before).user
    }
    expect(cpuOf(text)).toBeLessThan(timesUsualMax * cpuOf(usualReply))
  },
)
