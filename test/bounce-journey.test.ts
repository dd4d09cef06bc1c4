import { expect, test } from 'vitest'
import { deliver, deliveryStatusMail } from './support/bounce-sender.ts'
import { createFlow, send } from './support/flows.ts'
import { startRelay } from './support/relay.ts'
import { startTestApp } from './support/test-app.ts'
import { until } from './support/until.ts'
import { startReceiver } from './support/webhook-receiver.ts'

const today = () => new Date().toISOString().slice(0, 10)

test('an email that the relay accepts and bounces later is a hard bounce in metrics and webhook, and its address is suppressed', async () => {
  await using relay = await startRelay()
  await using receiver = await startReceiver((response) => response.writeHead(200).end(), { plain: true })
  await using app = await startTestApp({
    SMTP_URL: relay.url,
    BOUNCE_DOMAIN: 'bounces.acme.example',
    BOUNCE_SMTP_PORT: '0',
    BOUNCE_SMTP_HOST: '127.0.0.1',
  })
  await app.manage('POST', '/organization/webhooks', {
    name: 'bounces',
    url: receiver.url('127.0.0.1'),
    event_types: ['emailHardBounce'],
  })
  const flowId = await createFlow(app)
  const { body } = await send(app, flowId)
  const sent = await until('the mail at the relay', () => relay.mails[0])

  // The relay detects later that the mailbox does not exist, and notifies the envelope sender.
  const before = today()
  const returned = deliveryStatusMail(sent.sender, { headers: sent.raw.split('\r\n\r\n')[0]!.replaceAll('\r\n', '\n') })
  const outcome = await deliver(app.app.bouncePort()!, '', sent.sender, returned)
  expect(outcome.kind).toBe('accepted')

  const metric = await app.publicApi(
    'GET',
    `/analytics/metrics/get-email-event-metric?event_name=emailHardBounce&start_date=${before}&end_date=${today()}`,
  )
  expect(metric.body.data).toMatchObject({ total: 1, unique: 1, machine: 0 })

  const post = await until('the webhook', () => receiver.posts[0])
  expect(JSON.parse(post.body.toString())).toMatchObject({
    event_name: 'emailHardBounce',
    organization_id: app.organizationId,
    data: {
      message_id: body.data.message_id,
      flow_id: flowId,
      contact: { email: 'ada@example.com' },
      bounce: { type: 'hard', status: '5.1.1', reply_code: 550 },
    },
  })

  const message = await app.manage('GET', `/organization/messages/${body.data.message_id}`)
  expect(message.body.data.status).toBe('bounced')
  const suppressions = await app.manage('GET', '/organization/suppressions')
  expect(suppressions.body.data).toMatchObject([{ email: 'ada@example.com', reason: 'hard_bounce' }])
  const again = await send(app, flowId)
  expect(again.body.data).toMatchObject({ status: 'suppressed', reason: 'hard_bounce' })
})
