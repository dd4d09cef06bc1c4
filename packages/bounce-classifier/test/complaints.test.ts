import { expect, test } from 'vitest'
import { classifyBounce } from '../src/classify-bounce.ts'
import { feedback, mail, ourAddress, report, returnedHeaders } from './build-email.ts'

test('a feedback report is a complaint for each recipient it names', async () => {
  const { results, originalMessageId, returnAddresses } = await classifyBounce(
    feedback(
      `Feedback-Type: abuse\nVersion: 1\nOriginal-Mail-From: <${ourAddress}>\nOriginal-Rcpt-To: <ada@example.com>\nOriginal-Rcpt-To: bob@example.com\n`,
    ),
  )
  expect(results.map(({ recipient, kind, feedbackType }) => [recipient, kind, feedbackType])).toEqual([
    ['ada@example.com', 'complaint', 'abuse'],
    ['bob@example.com', 'complaint', 'abuse'],
  ])
  expect(originalMessageId).toBe('msg-1@sender.example')
  expect(returnAddresses).toContain(ourAddress)
})

test('a complaint without a recipient concerns the recipient of the returned message', async () => {
  const { results } = await classifyBounce(feedback('Feedback-Type: fraud\nVersion: 1\n'))
  expect(results).toMatchObject([{ recipient: 'ada@example.com', kind: 'complaint', feedbackType: 'fraud' }])
})

test('a complaint with a redacted recipient is a complaint', async () => {
  const hidden = returnedHeaders.replace('ada@example.com', 'undisclosed-recipients:;')
  const { results } = await classifyBounce(feedback('Feedback-Type: abuse\n', hidden))
  expect(results).toMatchObject([{ recipient: null, kind: 'complaint' }])
})

test('an authentication failure report keeps its feedback type', async () => {
  const { results } = await classifyBounce(feedback('Feedback-Type: auth-failure\nOriginal-Rcpt-To: ada@example.com\n'))
  expect(results[0]).toMatchObject({ kind: 'complaint', feedbackType: 'auth-failure' })
})

test('a not-spam report is not a complaint', async () => {
  const { results } = await classifyBounce(feedback('Feedback-Type: not-spam\nOriginal-Rcpt-To: ada@example.com\n'))
  expect(results[0]?.kind).toBe('none')
})

test('a complaint that consists of the returned message only is recognized', async () => {
  const { results } = await classifyBounce(
    report([{ type: 'message/rfc822', body: `X-HmXmrOriginalRecipient: ada@example.com\n${returnedHeaders}\nHello` }], {
      From: 'staff@loop.example',
      Subject: 'complaint about message from 192.0.2.1',
      'Return-Path': '<staff@loop.example>',
    }),
  )
  expect(results).toMatchObject([{ recipient: 'ada@example.com', kind: 'complaint' }])
})

const topicMail = (json: unknown) =>
  mail(
    { From: 'no-reply@sns.amazonaws.example', To: 'ops@sender.example', Subject: 'AWS Notification Message' },
    `${JSON.stringify(json)}\n\n--\nIf you wish to stop receiving notifications, unsubscribe.\n`,
  )

test('bounces, complaints and deliveries in JSON from Amazon SES are read', async () => {
  const bounce = await classifyBounce(
    topicMail({
      notificationType: 'Bounce',
      mail: { commonHeaders: { messageId: '<msg-1@sender.example>' } },
      bounce: {
        bounceType: 'Permanent',
        bouncedRecipients: [
          {
            emailAddress: 'Ada@example.com',
            action: 'failed',
            status: '5.1.1',
            diagnosticCode: 'smtp; 550 5.1.1 user unknown',
          },
        ],
      },
    }),
  )
  const vague = (bounceType: string) =>
    classifyBounce(
      topicMail({
        notificationType: 'Bounce',
        bounce: {
          bounceType,
          bouncedRecipients: [{ emailAddress: 'ada@example.com', diagnosticCode: 'smtp; no such domain' }],
        },
      }),
    )
  const complaint = await classifyBounce(
    topicMail({
      notificationType: 'Complaint',
      complaint: { complainedRecipients: [{ emailAddress: 'ada@example.com' }] },
    }),
  )
  const delivery = await classifyBounce(
    topicMail({
      notificationType: 'Delivery',
      delivery: { recipients: ['ada@example.com'], smtpResponse: '250 2.6.0 ok' },
    }),
  )
  expect(bounce).toMatchObject({
    results: [{ recipient: 'ada@example.com', kind: 'hard', status: '5.1.1' }],
    originalMessageId: 'msg-1@sender.example',
  })
  expect((await vague('Permanent')).results).toMatchObject([{ kind: 'hard', reason: 'host_unknown' }])
  expect((await vague('Transient')).results).toMatchObject([{ kind: 'soft', reason: 'host_unknown' }])
  expect(complaint.results).toMatchObject([{ recipient: 'ada@example.com', kind: 'complaint' }])
  expect(delivery.results).toMatchObject([{ recipient: 'ada@example.com', kind: 'none', reason: 'delivered' }])
})
