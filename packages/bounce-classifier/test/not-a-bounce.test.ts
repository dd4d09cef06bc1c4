import { expect, test } from 'vitest'
import { classifyBounce } from '../src/classify-bounce.ts'
import { deliveryStatus, mail, ourAddress, report } from './build-email.ts'

const person = {
  From: 'Ada <ada@example.com>',
  To: ourAddress,
  'Return-Path': '<ada@example.com>',
  Subject: 'Re: Your order',
}

const others: [what: string, raw: string][] = [
  ['a personal reply about a delivery', mail(person, 'The parcel was not delivered. My order number is 550 - thanks.')],
  ['an empty mail', ''],
  ['a mail without a body', mail(person, '')],
  ['a text that is no mail', 'just some words, and a user unknown to anybody'],
  [
    'an out-of-office reply',
    mail(
      { ...person, Subject: 'Out of Office: Your order', 'Return-Path': '<>', 'Auto-Submitted': 'auto-replied' },
      'Your message could not be delivered to me today. Write to bob@example.com. 550 mails wait for me already.',
    ),
  ],
  [
    'a vacation reply that only its header gives away',
    mail(
      { ...person, 'Return-Path': '<>', 'Auto-Submitted': 'auto-replied (vacation)' },
      'I cannot be reached until June 3. 550 5.1.1 is not my number.',
    ),
  ],
  [
    'a vacation reply that nothing but its words give away',
    mail(
      { ...person, 'Return-Path': '<>', 'Auto-Submitted': 'auto-replied' },
      'I have left the company; my account is disabled. Please contact bob@example.com.',
    ),
  ],
  [
    'a newsletter about bounces',
    mail(
      { ...person, Subject: 'How to reduce delivery failures' },
      'When a mailbox is full or a user unknown, mail is returned. Learn what 550 5.1.1 means.',
    ),
  ],
  [
    'a read receipt',
    report(
      [
        { type: 'text/plain', body: 'Your message was displayed.' },
        {
          type: 'message/disposition-notification',
          body: 'Final-Recipient: rfc822; ada@example.com\nDisposition: manual-action/MDN-sent-manually; displayed\n',
        },
      ],
      { From: 'ada@example.com', Subject: 'Read: Your order' },
    ),
  ],
  [
    'a personal mail with a bounce attached',
    mail(
      { ...person, 'Content-Type': 'multipart/mixed; boundary="x"' },
      `--x\nContent-Type: text/plain\n\nLook what I got from you.\n--x\nContent-Type: message/rfc822\n\n${deliveryStatus('Final-Recipient: rfc822; bob@example.com\nAction: failed\nStatus: 5.1.1')}\n--x--\n`,
    ),
  ],
  [
    'a letter from a postmaster',
    mail(
      { ...person, From: 'postmaster@example.com', Subject: 'Your mail server' },
      'Hello, could you tell us who runs it?',
    ),
  ],
  [
    'a request to confirm that one is a person',
    mail(
      { ...person, 'Return-Path': '<>', Subject: 'Please confirm' },
      'Click here: https://example.com/confirm?x=550',
    ),
  ],
]

for (const [what, raw] of others) {
  test(`${what} is not a bounce`, async () => {
    const { results } = await classifyBounce(raw)
    expect(results).toEqual([
      {
        recipient: null,
        kind: 'none',
        status: null,
        replyCode: null,
        reason: 'not_a_bounce',
        confidence: 'high',
        evidence: null,
        diagnostic: null,
      },
    ])
  })
}
