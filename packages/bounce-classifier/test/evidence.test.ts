import { expect, test } from 'vitest'
import { classifyBounce } from '../src/classify-bounce.ts'
import { classifyReply } from '../src/classify-reply.ts'
import { deliveryStatus, feedback, mail, notice, ourAddress, report, returnedHeaders } from './build-email.ts'

const kindOf = async (raw: string) => {
  const [result] = (await classifyBounce(raw)).results
  return `${result!.kind} ${result!.reason}`
}

const status = (code: string, diagnostic: string, action = 'failed') =>
  deliveryStatus(
    `Final-Recipient: rfc822; ada@example.com\nAction: ${action}\nStatus: ${code}\nDiagnostic-Code: smtp; ${diagnostic}`,
  )

test.each([
  [
    'qmail',
    '<ada@example.com>:\n192.0.2.1 does not like recipient.\nRemote host said: 550 unknown user\nGiving up on 192.0.2.1.',
  ],
  ['Notes', '------- Failure Reasons  --------\n\nUser not listed in public Name & Address Book\nada@example.com'],
  [
    'Domino',
    'Your message\n\n  Subject: Hello\n\nwas not delivered to:\n\n  ada@example.com\n\nbecause:\n\n  User ada (ada@example.com) not listed in Domino Directory',
  ],
  [
    'a McAfee gateway',
    'The following address(es) could not be delivered:\n\n<ada@example.com>   550 Unknown user ada@example.com',
  ],
  ['MessageLabs', 'The message could not be delivered to:\n\nada@example.com\n\n550 No such user'],
  [
    'Outlook',
    'Delivery to the following recipients failed.\n\n       ada@example.com\n\n550 Requested action not taken: mailbox unavailable',
  ],
  ['a Japanese provider', '次のあて先への送信に失敗しました。\n\nada@example.com\n\n550 宛先不明です'],
  ['a Russian provider', 'Письмо не доставлено: <ada@example.com>\n\n550 нет такого пользователя'],
  ['a Spanish provider', 'No se pudo entregar el mensaje a <ada@example.com>\n\n550 usuario desconocido'],
])('a plain “no such user” in a notice of %s is hard', async (_, words) => {
  expect(await kindOf(notice(words))).toBe('hard user_unknown')
})

test.each([
  ['550 5.1.1 Blocked, see https://blocklist.example/?ip=192.0.2.1 - client host blacklisted', 'blocked'],
  ['550 5.1.1 Message refused by local policy', 'policy'],
  ['550 5.1.0 Sender domain does not exist', 'sender_refused'],
  ['553 5.1.2 sender address rejected: domain not found', 'sender_refused'],
  ['550 5.1.1 SPF check failed', 'authentication'],
  ['554 5.1.1 This message looks like spam', 'spam'],
  ['552 5.1.1 Mailbox is over quota', 'mailbox_full'],
  ['550 5.4.4 Name service error for name=example.com type=MX: Host not found, try again', 'network'],
  ['550 5.4.4 Temporary DNS failure (SERVFAIL) for example.com', 'network'],
])('words win over a misleading address status: “%s” is soft', async (diagnostic, reason) => {
  const code = /\d\.\d\.\d/.exec(diagnostic)![0]
  expect(await kindOf(status(code, diagnostic))).toBe(`soft ${reason}`)
  expect(classifyReply({ text: diagnostic }).kind).toBe('soft')
})

test.each(['delivered', 'relayed (to a server without DSN)', 'expanded (to a list)'])(
  'a report with the action %s is not a bounce',
  async (action) => {
    expect(await kindOf(status('2.0.0', '250 OK', action))).toBe('none delivered')
  },
)

test('a report without an action, with a status of success, is not a bounce', async () => {
  const raw = deliveryStatus('Final-Recipient: rfc822; ada@example.com\nStatus: 2.1.5')
  expect(await kindOf(raw)).toBe('none delivered')
})

test('a return receipt in plain words is not a bounce', async () => {
  const words = 'Your message was successfully delivered to the following recipient:\n\n<ada@example.com>\n'
  expect(await kindOf(notice(words, { Subject: 'Return receipt' }))).toBe('none delivered')
})

test('the verdict quotes the line that decided and grades its confidence', async () => {
  const [sure] = (await classifyBounce(status('5.1.1', '550 5.1.1 User unknown'))).results
  expect(sure).toMatchObject({ kind: 'hard', confidence: 'high', evidence: '550 5.1.1 User unknown' })
  const words = 'Delivery failed.\n\n<ada@example.com>:\nSorry, the mailbox\nis over quota.\n'
  const [wrapped] = (await classifyBounce(notice(words))).results
  expect(wrapped).toMatchObject({ kind: 'soft', reason: 'mailbox_full', evidence: 'is over quota.' })
  const [unsure] = (await classifyBounce(notice('Delivery to ada@example.com failed.\n\n554 xyzzy'))).results
  expect(unsure).toMatchObject({ kind: 'soft', reason: 'undetermined', confidence: 'low', evidence: '554 xyzzy' })
})

const plainReplies = [
  '550 User unknown',
  '550 : User unknown',
  '550 No such user here',
  '550 unknown user <ada@example.com>',
  '550 Requested action not taken: mailbox unavailable',
  '550 Mailbox not found',
  '550 The email account that you tried to reach does not exist.',
  '550 Invalid recipient ada@example.com',
  '550 #5.1.0 Address rejected.',
  '550 Local user [ada@example.com] not found',
  '550 unavailable mail user',
  '550 user does not exist',
  '550 recipient does not have an account here',
  '550 Benutzer unbekannt',
]

test.each(plainReplies)('“%s” in a notice without any status is hard', async (reply) => {
  const { results } = await classifyBounce(notice(`<ada@example.com>:\nRemote host said: ${reply}\n`))
  expect(results).toMatchObject([{ kind: 'hard', recipient: 'ada@example.com' }])
})

test.each(plainReplies)('“%s” in reply to RCPT is hard whichever status the reporting server adds', async (reply) => {
  expect(await kindOf(status('5.0.0', `${reply} (in reply to RCPT TO command)`))).toBe('hard user_unknown')
  expect(classifyReply({ text: reply })).toMatchObject({ kind: 'hard', reason: 'user_unknown' })
})

// A relay that knows that the recipient was refused writes 5.1.1; a filter may answer "user unknown" after DATA.
test.each([
  status('5.0.0', '550 User unknown'),
  status('5.2.0', '550 User unknown'),
  notice(
    'This is the Postfix program at host relay.example.\n\n<ada@example.com>: host mx.example.com[192.0.2.22] said: 550 User unknown',
  ),
  notice(
    'This message was created automatically by mail delivery software.\nThe following address failed:\n\n  <ada@example.com>: 550 unknown user',
  ),
])('“user unknown” of unknown stage is soft with low confidence: %#', async (raw) => {
  expect((await classifyBounce(raw)).results).toMatchObject([
    { kind: 'soft', reason: 'user_unknown', confidence: 'low' },
  ])
})

const statusBy = (reporter: string, fields: string, headers: Record<string, string> = {}) =>
  report(
    [
      { type: 'text/plain', body: 'Delivery to the following recipients failed.\n\n  ada@example.com\n' },
      {
        type: 'message/delivery-status',
        body: `Reporting-MTA: dns; ${reporter}\n\nFinal-Recipient: rfc822; ada@example.com\nAction: failed\n${fields}\n`,
      },
    ],
    headers,
  )

test.each([
  [
    'McAfee',
    notice('    --- The following addresses had delivery problems ---\n\n<ada@example.com>   (User not exist)\n'),
  ],
  [
    'McAfee with a status part',
    statusBy('gw.example', 'Diagnostic-Code: smtp; 550 Unknown user ada@example.com', {
      'X-NAI-Header': 'Modified by McAfee Email and Web Security Appliance',
    }),
  ],
  ['MessageLabs', statusBy('server-1.messagelabs.com', 'Status: 5.0.0\nDiagnostic-Code: smtp; 550 No such user')],
  [
    'Outlook.com',
    statusBy('mx.example', 'Status: 5.5.0\nDiagnostic-Code: smtp;550 Requested action not taken: mailbox unavailable', {
      'X-DSNContext': '7ce717b1 - 1196 - 00000002 - 00000000',
    }),
  ],
  [
    'InterScan',
    notice('Message from InterScan Messaging Security Suite\n\nUnable to deliver to <ada@example.com>: unknown user'),
  ],
  ['IMail', notice('Unknown user: ada@example.com\n', { 'X-Mailer': '<SMTP32 v8.22>' })],
  [
    'Verizon',
    notice('Message could not be delivered to mobile.\nError: No valid recipients for this MM\n\nTo: ada@example.com', {
      From: 'MMSC NDR Administrator <sysadmin@m01.vzwpix.com>',
    }),
  ],
])('%s checks recipients, so its “no such user” is hard without code and command', async (_, raw) => {
  expect((await classifyBounce(raw)).results[0]).toMatchObject({ kind: 'hard', reason: 'user_unknown' })
})

test('the introduction of a notice does not decide', async () => {
  const words = 'The following message to <ada@example.com> was undeliverable.\nThe reason for the problem:\n'
  const cisco = '5.1.0 - Unknown address error 550-'
  expect(await kindOf(notice(`${words}550 xyzzy`))).toBe('soft undetermined')
  expect(await kindOf(notice(`${words}${cisco}'No such user'`))).toBe('hard user_unknown')
  expect(await kindOf(notice(`${words}${cisco}'Relaying denied'`))).toBe('soft relaying_denied')
})

test('a mobile carrier whose filter answers “user unknown” is hard only in reply to RCPT', async () => {
  const reply = { text: '550 Unknown user ada@docomo.ne.jp', recipient: 'ada@docomo.ne.jp' }
  expect(classifyReply({ ...reply, command: 'rcpt' }).kind).toBe('hard')
  expect(classifyReply({ ...reply, command: 'data' }).kind).toBe('soft')
  const refused = (address: string, code: string, text: string) =>
    deliveryStatus(
      `Final-Recipient: rfc822; ${address}\nAction: failed\nStatus: ${code}\nDiagnostic-Code: smtp; 550 ${text}`,
    )
  expect(await kindOf(refused('ada@ezweb.ne.jp', '5.1.1', ': User unknown'))).toBe('soft filtered')
  expect(await kindOf(refused('ada@ezweb.ne.jp', '5.0.0', '<ada@ezweb.ne.jp>: User unknown'))).toBe('hard user_unknown')
  expect(await kindOf(refused('ada@docomo.ne.jp', '5.2.0', 'Unknown user ada@docomo.ne.jp'))).toBe('soft filtered')
  expect(await kindOf(refused('ada@docomo.ne.jp', '5.1.1', 'Unknown user ada@docomo.ne.jp'))).toBe('hard user_unknown')
  expect(await kindOf(refused('ada@softbank.ne.jp', '5.1.1', 'Invalid recipient'))).toBe('hard user_unknown')
})

test.each([
  ['As their mailbox is full.', 'soft mailbox_full'],
  ['As the remote domain doesnt exist.', 'hard host_unknown'],
  ['Due to the following SMTP relay error', 'soft relaying_denied'],
])('a mobile carrier that signs as no daemon is recognized: “%s”', async (reason, verdict) => {
  const words = `Your mail sent on: Thu, 29 Apr 2010 11:04:47 +0900\n\nCould not be delivered to: <ada@example.com>\n\n${reason}\n`
  expect(await kindOf(notice(words, { From: 'no-reply@carrier.example', Subject: 'Re: Your order' }))).toBe(verdict)
})

test('a notice in Japanese without a code is recognized', async () => {
  const words = '次の宛先へのメール送信に失敗しました。\n\nada@example.com\n'
  const { results } = await classifyBounce(notice(words, { From: 'mail@carrier.example', Subject: 'メール送信エラー' }))
  expect(results).toMatchObject([{ kind: 'soft', recipient: 'ada@example.com' }])
})

test('an address after a full-width colon is read without it', async () => {
  const words = '收件人：ada@example.com\n\n退信原因：SMTP error, RCPT TO: 550 User not found\n'
  const { results } = await classifyBounce(notice(words, { Subject: '系统退信' }))
  expect(results).toMatchObject([{ kind: 'hard', recipient: 'ada@example.com' }])
})

test.each([
  ['550 5.7.26 <ada@example.com>: Recipient address rejected: Multiple checks did not pass', 'authentication'],
  ['554 5.7.1 <ada@example.com>: Recipient address rejected', 'policy'],
  ['550 5.3.0 <ada@example.com>: Recipient address rejected', 'system'],
  ['554 5.1.1 No SMTP service. IP address is block listed', 'blocked'],
  ['550 5.1.1 Rejected by header based anti spoofing policy', 'policy'],
  ['550 5.1.0 Reject due to SPF policy', 'authentication'],
  ['550 5.1.1 Your message has exceeded the sending rate limit', 'rate_limited'],
  ['550 5.1.1 permanent failure for one or more recipients (ada@example.com:blocked)', 'blocked'],
])('“%s” is soft', (text, reason) => {
  expect(classifyReply({ text })).toMatchObject({ kind: 'soft', reason })
})

const jsonMail = (json: unknown) =>
  mail({ From: 'no-reply@provider.example', To: ourAddress, Subject: 'Notification' }, JSON.stringify(json, null, 2))

test.each([
  [
    'SES, wrapped by SNS',
    {
      Type: 'Notification',
      Message: JSON.stringify({
        notificationType: 'Bounce',
        bounce: { bounceType: 'Permanent', bouncedRecipients: [{ emailAddress: 'ada@example.com', status: '5.1.1' }] },
      }),
    },
    'hard user_unknown',
  ],
  [
    'SES, by sub type',
    {
      eventType: 'Bounce',
      bounce: {
        bounceType: 'Permanent',
        bounceSubType: 'NoEmail',
        bouncedRecipients: [{ emailAddress: 'Ada <ada@example.com>' }],
      },
    },
    'hard user_unknown',
  ],
  [
    'SendGrid',
    [{ email: 'ada@example.com', event: 'bounce', type: 'bounce', status: '5.1.1', reason: '550 5.1.1 User unknown' }],
    'hard user_unknown',
  ],
  ['SendGrid, complaint', [{ email: 'ada@example.com', event: 'spamreport' }], 'complaint feedback'],
  [
    'Mailgun',
    {
      'event-data': {
        event: 'failed',
        severity: 'permanent',
        recipient: 'ada@example.com',
        'delivery-status': { code: 552, message: '552 5.2.2 mailbox is full' },
      },
    },
    'soft mailbox_full',
  ],
  [
    'Postmark',
    { RecordType: 'Bounce', Type: 'HardBounce', Email: 'ada@example.com', Details: 'smtp;550 5.1.1 no such user' },
    'hard user_unknown',
  ],
])('a notification of %s in JSON is understood', async (_, json, verdict) => {
  expect(await kindOf(jsonMail(json))).toBe(verdict)
})

test('complaints with a redacted recipient, on one line or without a report part are complaints', async () => {
  const redacted = await classifyBounce(
    feedback('Feedback-Type: abuse\nOriginal-Rcpt-To: [redacted]\n', 'To: hidden\n'),
  )
  expect(redacted.results).toMatchObject([{ kind: 'complaint', recipient: null }])
  const oneLine = mail(
    { From: 'abuse@loop.example', To: ourAddress, Subject: 'Report' },
    `Feedback-Type: abuse; User-Agent: Loop/1.0; Version: 1; Original-Rcpt-To: ada@example.com\n\n${returnedHeaders}`,
  )
  expect((await classifyBounce(oneLine)).results).toMatchObject([{ kind: 'complaint', recipient: 'ada@example.com' }])
  const withoutPart = report([{ type: 'message/rfc822', body: `${returnedHeaders}\nHello` }], {
    From: 'abuse@loop.example',
    Subject: 'FW: Your order',
    'Content-Type': 'multipart/report; report-type=feedback-report; boundary="part-of-report"',
  })
  expect((await classifyBounce(withoutPart)).results).toMatchObject([
    { kind: 'complaint', recipient: 'ada@example.com' },
  ])
  const plain = mail(
    { From: 'abuse@loop.example', To: ourAddress, Subject: 'FW: Your order' },
    `This is an email abuse report for an email message received from IP 192.0.2.1.\n\n${returnedHeaders}`,
  )
  expect((await classifyBounce(plain)).results).toMatchObject([{ kind: 'complaint', recipient: 'ada@example.com' }])
})

test('input and output can be passed to a worker thread', async () => {
  const report = await classifyBounce(status('5.1.1', '550 5.1.1 User unknown'))
  expect(structuredClone(report)).toEqual(report)
})
