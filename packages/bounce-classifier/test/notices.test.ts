import { expect, test } from 'vitest'
import { classifyBounce } from '../src/classify-bounce.ts'
import { notice, ourAddress, returnedHeaders } from './build-email.ts'

// How mail systems write when they send no delivery-status part. Each case: the system, its words, what they mean.
const systems: [name: string, words: string, meaning: string[], headers?: Record<string, string>][] = [
  [
    'Postfix',
    `
This is the mail system at host relay.example.

<ada@example.com>: host mx.example.com[192.0.2.1] said: 452 4.2.2 Mailbox full (in
    reply to RCPT TO command)

<bob@example.com>: host mx.example.com[192.0.2.1] said: 550 5.1.1
    <bob@example.com>: Recipient address rejected: User unknown (in reply to RCPT
    TO command)`,
    ['ada@example.com soft', 'bob@example.com hard'],
  ],
  [
    'Exim',
    `
A message that you sent could not be delivered to one or more of its
recipients. This is a permanent error. The following address(es) failed:

  ada@example.com
    host mx.example.com [192.0.2.1]
    SMTP error from remote mail server after RCPT TO:<ada@example.com>:
    550 Mailbox not found
  bob@example.net
    Unrouteable address
  eve@example.org
    retry timeout exceeded

------ This is a copy of the message, including all the headers. ------

${returnedHeaders}`,
    ['ada@example.com hard', 'bob@example.net hard', 'eve@example.org soft'],
  ],
  [
    'Sendmail',
    `
   ----- The following addresses had permanent fatal errors -----
<ada@example.com>
    (reason: 550 No such user here)

   ----- Transcript of session follows -----
... while talking to mx.example.com.:
>>> RCPT To:<ada@example.com>
<<< 550 No such user here
550 <ada@example.com>... User unknown
554 <carol@example.org>... Remote protocol error: connection reset
550 example.net (smtp)... 550 Host unknown
554 <bob@example.net>... 550 Host unknown (Authoritative answer from name server)

   ----- Original message follows -----

${returnedHeaders}`,
    ['ada@example.com hard', 'carol@example.org soft', 'bob@example.net hard'],
  ],
  [
    'Sendmail that sent its commands in one go',
    `
   ----- The following addresses had permanent fatal errors -----
<ada@example.com>
    (reason: 550 Unknown recipient)

   ----- Transcript of session follows -----
>>> DATA
<<< 550 Unknown recipient
<<< 554 Error: no valid recipients`,
    ['ada@example.com hard'],
  ],
  [
    'qmail',
    `
Hi. This is the qmail-send program at relay.example.
I'm afraid I wasn't able to deliver your message to the following addresses.

<ada@example.com>:
192.0.2.1 does not like recipient.
Remote host said: 550 no such user here
Giving up on 192.0.2.1.

<bob@example.com>:
192.0.2.1 failed after I sent the message.
Remote host said: 550 no such user here

<eve@nowhere.example>:
Sorry, I couldn't find any host named nowhere.example. (#5.1.2)

--- Below this line is a copy of the message.

${returnedHeaders}`,
    ['ada@example.com hard', 'bob@example.com soft', 'eve@nowhere.example hard'],
    { Subject: 'failure notice' },
  ],
  [
    'Exchange 5.5',
    `
Your message

  To:      carol@example.com
  Subject: hello
  Sent:    Thu, 29 Apr 2004 10:10:10 +0900

did not reach the following recipient(s):

ada@example.com on Thu, 29 Apr 2004 10:10:12 +0900
    The recipient name is not recognized
    MSEXCH:IMS:EXAMPLE:MAIL:SRV 0 (000C05A6) Unknown Recipient`,
    ['ada@example.com hard'],
    { Subject: 'Undeliverable: hello' },
  ],
  [
    'Exchange in German',
    `
Fehler bei der Nachrichtenzustellung an folgende Empfänger oder Verteilerlisten:

ada@example.com
Die eingegebene E-Mail-Adresse konnte nicht gefunden werden.

Diagnoseinformationen für Administratoren:

ada@example.com
#550 5.1.1 RESOLVER.ADR.RecipNotFound; not found ##`,
    ['ada@example.com hard'],
    { Subject: 'Unzustellbar: hallo' },
  ],
  [
    'Notes',
    `
------- Failure Reasons  --------

User not listed in public Name & Address Book
ada@notes.example

------- Returned Message --------

${returnedHeaders}`,
    ['ada@notes.example hard'],
  ],
  [
    'MailMarshal',
    `
Your message:
   From:    ${ourAddress}
   Subject: hello

Could not be delivered because of

550 5.1.1 User unknown

The following recipients were affected:
    ada@example.com`,
    ['ada@example.com hard'],
  ],
  [
    'MDaemon',
    `
The attached message had PERMANENT fatal delivery errors!
Failed address: ada@example.com

--- Session Transcript ---
 Thu 2010-04-29 10:00:01: --> RCPT To:<ada@example.com>
 Thu 2010-04-29 10:00:01: <-- 550 Account disabled`,
    ['ada@example.com soft'],
  ],
  [
    'hMailServer',
    `
The following recipient(s) could not be reached:

ada@example.com
   Error Type: SMTP
   hMailServer sent: RCPT TO:<ada@example.com>
   Remote server replied: 550 No such user`,
    ['ada@example.com hard'],
  ],
  ['IMail', 'Unknown user: ada@example.com\n\nOriginal message follows.\n\n', ['ada@example.com hard']],
  [
    'Gmail',
    `
Delivery to the following recipient failed permanently:

     ada@example.com

Technical details of permanent failure:
Google tried to deliver your message, but it was rejected by the recipient domain.
The error that the other server returned was: 550 550 Unknown user (state 14).`,
    ['ada@example.com hard'],
    { 'X-Failed-Recipients': 'ada@example.com' },
  ],
  [
    'a provider that signs as no daemon',
    'Your mail could not be delivered to: <ada@example.com>\nAs their mailbox is full.\n550 sorry',
    ['ada@example.com soft'],
    { From: 'no-reply@example.com', Subject: 'Mail' },
  ],
  [
    'a carrier in Chinese',
    '抱歉，您的邮件被退回来了\n收件人：<ada@example.com>\n退信原因：收件人的邮箱已满',
    ['ada@example.com soft'],
    { Subject: '系统退信' },
  ],
  [
    'a mail system in French',
    `Votre message n'a pas pu être remis à : ada@example.com\n\n550 5.1.1 Adresse d'au moins un destinataire invalide.`,
    ['ada@example.com hard'],
    { Subject: 'Message non remis' },
  ],
  [
    'a warning of Sendmail',
    `
    **      THIS IS A WARNING MESSAGE ONLY      **

   ----- Transcript of session follows -----
<ada@example.com>... Deferred: Connection refused by mx.example.com.
Warning: message still undelivered after 4 hours`,
    ['ada@example.com soft'],
    { Subject: 'Warning: could not send message for past 4 hours' },
  ],
  [
    'a mailing list that is closed to us',
    'You are not a member of this mailing list <friends@example.org>.\n\nFor a guide write to the address\n\n\tfriends-ctl@example.org',
    ['friends@example.org soft'],
    {
      From: 'friends-admin@example.org',
      Subject: 'You are not member (friends ML)',
      'Return-Path': '<friends-admin@example.org>',
    },
  ],
]

for (const [name, words, meaning, headers] of systems) {
  test(`the notice of ${name} is read`, async () => {
    const { results } = await classifyBounce(notice(words, headers))
    expect(results.map(({ recipient, kind }) => `${recipient} ${kind}`)).toEqual(meaning)
  })
}

test('a support address is not taken for the recipient', async () => {
  const help = 'Please send mail to <support@relay.example> for help.'
  const { results } = await classifyBounce(
    notice(`${help}\n\nYour message to ada@example.com was not delivered: mailbox full`),
  )
  expect(results.map(({ recipient }) => recipient)).toEqual(['ada@example.com'])
})

test('a display name that looks like an address is not taken for the recipient', async () => {
  const { results } = await classifyBounce(
    notice('The following addresses failed:\n\n  ada@example.com <ada@example.org>: malformed address\n'),
  )
  expect(results.map(({ recipient }) => recipient)).toEqual(['ada@example.org'])
})

test('the returned message below a notice is not read as part of it', async () => {
  const { results, originalMessageId } = await classifyBounce(
    notice(`<ada@example.com>: mailbox full\n\n${returnedHeaders}\n550 5.1.1 <bob@example.com>... User unknown\n`),
  )
  expect(results).toMatchObject([{ recipient: 'ada@example.com', kind: 'soft', reason: 'mailbox_full' }])
  expect(originalMessageId).toBe('msg-1@sender.example')
})
