import { callUrl } from '../support/test-app.ts'
import { until } from '../support/until.ts'
import type { Recorder } from './recorder.ts'

const person = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5) AppleWebKit/605.1.15'

const orderFlow = {
  name: 'Order shipped',
  kind: 'transactional',
  subject: 'Order {{ order_id }} is on its way',
  html: '<p>Hello {{ contact.first_name | default: "there" }},</p><p>your order is on its way. <a href="https://shop.example.com/orders/{{ order_id }}">Track it</a>.</p>',
  from_name: 'Acme Shop',
}

/** Flows, sending, messages, the inbox and the sending status. Returns the id of the flow. */
export async function recordEmail(recorder: Recorder): Promise<{ flowId: string }> {
  const flowId = await recordFlows(recorder)
  await recordSending(recorder, flowId)
  return { flowId }
}

async function recordFlows(recorder: Recorder): Promise<string> {
  const created = await recorder.record('createFlow', { body: orderFlow })
  const id = created.data.id as string
  await recorder.record('createFlow', { body: { ...orderFlow, html: '<p>{{ order_id </p>' }, status: 422 })
  await recorder.record('getFlow', { params: { id } })
  await recorder.record('updateFlow', {
    params: { id },
    body: { subject: 'Your order {{ order_id }} is on its way', base_version: 1 },
  })
  await recorder.record('updateFlow', {
    params: { id },
    body: { subject: 'Shipped: {{ order_id }}', base_version: 1 },
    status: 409,
  })
  await recorder.record('listFlows', {
    query: { query: 'Order' },
  })
  await recorder.record('listFlowVersions', { params: { id } })
  await recorder.record('getFlowVersion', { params: { id, version: '1' } })
  await recorder.record('previewFlow', {
    params: { id },
    body: { contact_email: 'ada@example.com', context: { order_id: 1042 } },
  })
  await recorder.record('previewTemplate', {
    body: {
      subject: 'Hello {{ contact.first_name }}',
      html: '<p>Your code is {{ code }}.</p>',
      contact_email: 'ada@example.com',
    },
  })
  await recorder.record('checkLinks', { body: { urls: ['ftp://files.acme.example/prices.pdf'] } })
  await recorder.record('sendTestEmail', {
    params: { id },
    body: { to: ['owner@acme.example', 'eve@acme.example'], context: { order_id: 1042 } },
  })
  await recorder.record('sendFlow', {
    params: { id },
    body: { contact_email: 'ada@example.com', context: { order_id: 1042 } },
  })
  await recorder.record('saveFlowDraft', {
    params: { id },
    body: { subject: 'On its way: {{ order_id }}', base_revision: 0 },
  })
  await recorder.record('getFlowDraft', { params: { id } })
  await recorder.record('publishFlow', { params: { id }, body: { base_revision: 1 } })
  await recorder.app.manage('PUT', `/organization/flows/${id}/draft`, { subject: 'Shipped' })
  await recorder.record('discardFlowDraft', { params: { id } })
  await recorder.record('rebuildFlow', { params: { id } })
  await recorder.record('duplicateFlow', { params: { id }, body: { name: 'Order delivered' } })
  const old = await recorder.app.manage('POST', '/organization/flows', { ...orderFlow, name: 'Old template' })
  await recorder.record('deleteFlow', { params: { id: old.body.data.id } })
  return id
}

const inOneDay = () => new Date(Date.now() + 24 * 60 * 60 * 1000).toISOString()

const sendBody = (flowId: string) => ({
  flow_id: flowId,
  contact_email: 'ada@example.com',
  context: { order_id: 1042 },
})

async function recordSending(recorder: Recorder, flowId: string): Promise<void> {
  const { app } = recorder
  const headers = { 'Idempotency-Key': 'order-1042-shipped' }
  const sent = await recorder.record('sendEmailThroughFlow', { headers, body: sendBody(flowId), title: 'Email queued' })
  await recorder.record('sendEmailThroughFlow', { headers, body: sendBody(flowId), title: 'Same request again' })
  await app.manage('POST', '/organization/suppressions', { email: 'bob@example.com' })
  await recorder.record('sendEmailThroughFlow', {
    body: { ...sendBody(flowId), contact_email: 'bob@example.com' },
    title: 'Suppressed address',
  })
  await recorder.record('sendEmailThroughFlow', {
    body: { ...sendBody(flowId), context: {} },
    status: 422,
  })
  await recorder.record('sendEmailThroughFlow', {
    headers,
    body: { ...sendBody(flowId), contact_email: 'grace@example.com' },
    status: 409,
  })

  await recorder.record('sendEmail', {
    body: {
      from: 'Acme <billing@acme.example>',
      to: 'grace@example.com',
      subject: 'Your invoice',
      html: '<p>Thank you for your order.</p>',
      attachments: [{ filename: 'invoice.txt', content: Buffer.from('Invoice 1042').toString('base64') }],
      tags: [{ name: 'category', value: 'invoice' }],
    },
  })
  const emails = ['heidi@example.com', 'heidi'].map((to) => ({
    from: 'hello@acme.example',
    to,
    subject: 'Welcome',
    text: 'Hello!',
  }))
  await recorder.record('sendEmails', { body: emails })
  const planned = await app.publicApi('POST', '/emails', {
    from: 'Acme <billing@acme.example>',
    to: ['ivan@example.com', 'judy@example.com'],
    subject: 'Reminder',
    text: 'Your invoice is due.',
    send_at: inOneDay(),
  })
  const params = { id: planned.body.data.id }
  const reader = await app.manage('POST', '/organization/api-keys', { name: 'Reports', scopes: ['messages:read'] })
  const hiddenHeaders = { 'x-api-token': reader.body.data.api_key }
  await recorder.record('getEmail', { params, hiddenHeaders })
  await app.manage('DELETE', `/organization/api-keys/${reader.body.data.id}`)
  await recorder.record('rescheduleEmail', { params, body: { send_at: inOneDay() } })
  await recorder.record('cancelEmailForAll', { params })
  await recorder.record('rescheduleEmail', { params, body: { send_at: inOneDay() }, status: 409 })

  const scheduled = await recorder.record('sendEmailThroughFlow', {
    body: { ...sendBody(flowId), send_at: inOneDay() },
    title: 'Scheduled email',
  })
  await recorder.record('cancelEmail', { params: { id: scheduled.data.message_id } })
  const { message_id: id } = sent.data
  const mail = await until('the email', async () => {
    const { status, body } = await app.manage('GET', `/organization/inbox/${id}`)
    return status === 200 && body.data
  })
  // The lists and the status of sending include the emails before it.
  await until('all emails', async () => (await app.db`select from messages where status = 'queued'`).length === 0)
  await openAndClick(recorder, mail.html)
  await until('the open and the click', async () => {
    const { body } = await app.manage('GET', `/organization/messages/${id}`)
    return body.data.events.length === 3
  })
  await recorder.record('getMessage', { params: { id } })
  const [withFile] = (await app.manage('GET', '/organization/messages?query=grace@example.com')).body.data
  await recorder.record('downloadAttachment', { params: { id: withFile.id, position: '0' } })
  const later = await app.publicApi('POST', '/flow/send-email-through-flow', {
    ...sendBody(flowId),
    send_at: inOneDay(),
  })
  await recorder.record('cancelMessage', { params: { id: later.body.data.message_id } })
  await recorder.record('cancelMessage', { params: { id }, status: 409 })
  await recorder.record('listMessages', { query: { status: 'sent', query: 'ada@example.com' } })
  await recorder.record('exportMessages', {
    query: { status: 'sent', query: 'ada@example.com' },
    shorten: (csv: string) => csv.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '2026-03-02T10:15:00.120Z'),
  })
  await recorder.record('listInboxEmails', {
    query: { limit: '1' },
  })
  await recorder.record('getInboxEmail', { params: { id }, shorten: shortenMail })
  await recorder.record('getSendingStatus')
  await recorder.record('checkSending')
  await recorder.record('getSendingSetup')
  await recorder.record('changeSendingSetup', { body: { base_url: 'https://mail.example.com' }, status: 409 })
  await recorder.record('sendFirstEmail', { body: { from: 'hello@example.com' } })
  const again = await recorder.record('sendMessageAgain', { params: { id } })
  await until('the email sent again', async () => {
    const { body } = await app.manage('GET', `/organization/messages/${again.data.message_id}`)
    return body.data.status === 'sent'
  })
}

/** Reads the email as a person would: loads the image and follows the link. */
async function openAndClick({ app }: Recorder, html: string): Promise<void> {
  const link = /href="([^"]*\/t\/c\/[^"]+)"/.exec(html)![1]!
  const image = /src="([^"]*\/t\/o\/[^"]+)"/.exec(html)![1]!
  for (const url of [image, link])
    await callUrl('GET', `${app.url}${new URL(url).pathname}`, { headers: { 'user-agent': person } })
}

/** The links of the email contain signed tokens, and its headers and boundaries differ in every run. */
function shortenMail({ data, ...rest }: { data: { headers: { name: string; value: string }[] } }) {
  const shown = ['From', 'To', 'Subject']
  return {
    ...rest,
    data: {
      ...data,
      html: '<p>Hello Ada,</p><p>your order is on its way. <a href="https://mail.example.com/t/c/…">Track it</a>.</p>…',
      text: 'Hello Ada,\n\nyour order is on its way. Track it [https://mail.example.com/t/c/…].\n',
      headers: data.headers.filter(({ name }) => shown.includes(name)),
      raw: 'From: Acme Shop <hello@acme.example>\r\nTo: ada@example.com\r\nSubject: Your order 1042 is on its way\r\n…',
    },
  }
}
