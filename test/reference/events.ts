import { createHmac, type KeyObject, randomUUID, sign } from 'node:crypto'
import { credentials, region, type S3Server } from '../support/s3-server.ts'
import { until } from '../support/until.ts'
import type { Receiver } from '../support/webhook-receiver.ts'
import type { Recorder } from './recorder.ts'

/** Webhooks, deliveries, events and metrics. `receiver` rejects events while `isRejecting`. */
export async function recordEvents(
  recorder: Recorder,
  { receiver, contactId, behavior }: { receiver: Receiver; contactId: string; behavior: { status: number } },
): Promise<void> {
  const { app } = recorder
  const created = await recorder.record('createWebhook', {
    body: { name: 'CRM', url: receiver.url(), event_types: ['emailOpen', 'emailClick', 'contactUnsubscribe'] },
  })
  const id = created.data.id as string
  await recorder.record('createWebhook', {
    body: { name: 'CRM', url: receiver.url(), event_types: ['emailOpened'] },
    status: 422,
  })
  await recorder.record('listRetrySchedules')
  await recorder.record('testWebhook', { params: { id }, body: { event_name: 'emailClick' } })

  const { cursor } = (await app.publicApi('GET', '/events?after=latest')).body.data
  behavior.status = 410
  await app.manage('PATCH', `/organization/contacts/${contactId}`, { status: 'unsubscribed' })
  const delivery = await settled(recorder, id, 'failed')
  behavior.status = 200
  await recorder.record('listWebhookDeliveries', { params: { id }, query: { status: 'failed' } })
  await recorder.record('getDelivery', { params: { id: delivery } })
  await recorder.record('replayDelivery', { params: { id: delivery } })
  await settled(recorder, id, 'delivered')
  await recorder.record('replayWebhookDeliveries', { params: { id }, body: { since: '2026-03-01T00:00:00Z' } })
  await recorder.record('getWebhook', { params: { id } })
  await recorder.record('listWebhooks')
  await recorder.record('updateWebhook', { params: { id }, body: { status: 'paused' } })
  await recorder.record('rotateWebhookSecret', { params: { id }, body: { overlap_hours: 24 } })
  await recorder.record('deleteWebhook', { params: { id } })

  await app.publicApi('GET', `/events?after=${cursor}&wait=30`)
  await recorder.record('readEvents', { query: { after: cursor, limit: '1', wait: '30' } })
  await recorder.record('readEvents', { query: { after: 'abc' }, status: 422 })
  await recorder.record('listEventTypes')
  const clicks = await recorder.record('listEvents', { query: { event_name: 'emailClick' } })
  await recorder.record('getEvent', { params: { id: clicks.data[0].id } })
  await recorder.record('getChecklist')
}

export async function recordEventExports(recorder: Recorder, s3: S3Server): Promise<void> {
  const created = await recorder.record('createEventExport', {
    body: {
      name: 'Warehouse',
      endpoint: s3.url,
      region,
      bucket: 'acme-events',
      prefix: 'waxwing',
      access_key_id: credentials.accessKeyId,
      secret_access_key: credentials.secretAccessKey,
      start: 'now',
    },
  })
  const id = created.data.id as string
  await recorder.record('updateEventExport', { params: { id }, body: { status: 'paused' } })
  await recorder.record('testEventExport', { params: { id } })
  await recorder.record('getEventExport', { params: { id } })
  await recorder.record('listEventExports')
  await recorder.record('deleteEventExport', { params: { id } })
}

async function settled({ app }: Recorder, webhookId: string, status: string): Promise<string> {
  return until(`a ${status} delivery`, async () => {
    const { body } = await app.manage('GET', `/organization/webhooks/${webhookId}/deliveries?status=${status}`)
    return body.data.find((each: { is_test: boolean }) => !each.is_test)?.id as string | undefined
  })
}

/** Metrics of yesterday and today, so that the example has a day without events. */
export async function recordMetrics(recorder: Recorder, flowId: string): Promise<{ today: string; yesterday: string }> {
  const [today, yesterday] = [0, 1].map((days) =>
    new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10),
  ) as [string, string]
  const period = { start_date: yesterday, end_date: today }
  await recorder.record('getEmailEventMetric', { query: { event_name: 'emailClick', ...period, flow_id: flowId } })
  await recorder.record('getEmailEventMetric', {
    query: { event_name: 'emailClick', start_date: '2026-03-31', end_date: '2026-03-01' },
    status: 422,
  })
  await recorder.record('getOverview', { query: { ...period, timezone: 'UTC' } })
  await recorder.record('getFlowResults', { params: { id: flowId }, query: { ...period, timezone: 'UTC' } })
  await recorder.record('listFlowFigureMessages', {
    params: { id: flowId },
    query: { ...period, timezone: 'UTC', figure: 'clicked' },
  })
  await recorder.record('listLinkClicks', {
    params: { id: flowId },
    query: { ...period, timezone: 'UTC', link: 'https://shop.example.com/orders/1042', machine: 'false' },
  })
  return { today, yesterday }
}

export async function recordProviders(
  recorder: Recorder,
  {
    sendgridKey,
    mailgunKey,
    postmarkPassword,
  }: { sendgridKey: KeyObject; mailgunKey: string; postmarkPassword: string },
): Promise<void> {
  const headers = { 'Content-Type': 'application/json' }
  const timestamp = String(Math.floor(Date.now() / 1000))
  const sendgrid = JSON.stringify([
    {
      event: 'bounce',
      type: 'bounce',
      status: '5.1.1',
      reason: '550 5.1.1 No such user',
      'smtp-id': '<msg_01kjt5r2g0e0t8vz1q0m3w0001@acme.example>',
    },
  ])
  await recorder.record('receiveSendgridEvents', {
    headers,
    text: sendgrid,
    hiddenHeaders: {
      'x-twilio-email-event-webhook-timestamp': timestamp,
      'x-twilio-email-event-webhook-signature': sign('sha256', Buffer.from(timestamp + sendgrid), sendgridKey).toString(
        'base64',
      ),
    },
  })
  const token = randomUUID()
  const signature = createHmac('sha256', mailgunKey)
    .update(timestamp + token)
    .digest('hex')
  await recorder.record('receiveMailgunEvents', {
    body: {
      signature: { timestamp, token, signature },
      'event-data': {
        event: 'failed',
        severity: 'permanent',
        'delivery-status': { code: 550, message: '5.1.1 No such user' },
        message: { headers: { 'message-id': 'msg_01kjt5r2g0e0t8vz1q0m3w0001@acme.example' } },
      },
    },
  })
  await recorder.record('receivePostmarkEvents', {
    body: {
      RecordType: 'Bounce',
      Type: 'HardBounce',
      Details: '550 5.1.1 No such user',
      BouncedAt: '2026-03-02T10:15:00Z',
      Metadata: { 'waxwing-id': 'the-id-from-the-email' },
    },
    hiddenHeaders: { authorization: `Basic ${Buffer.from(`hook:${postmarkPassword}`).toString('base64')}` },
  })
  await recorder.record('receiveSesEvents', {
    body: {
      Type: 'Notification',
      TopicArn: 'arn:aws:sns:eu-west-1:123456789012:another-topic',
      MessageId: '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324',
      Message: '{"eventType":"Bounce","bounce":{"bounceType":"Permanent"}}',
      SignatureVersion: '2',
      Signature: 'not the signature of Amazon SNS',
      SigningCertURL: 'https://sns.eu-west-1.amazonaws.com/SimpleNotificationService.pem',
    },
    status: 401,
  })
}
