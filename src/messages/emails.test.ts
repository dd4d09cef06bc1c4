import { expect, test } from 'vitest'
import { startRelay } from '../../test/support/relay.ts'
import { startSharedApp, startTestApp, type TestApp } from '../../test/support/test-app.ts'
import { until } from '../../test/support/until.ts'

const from = 'Acme <hello@acme.example>'
const email = { from, to: 'ada@example.com', subject: 'Your invoice', html: '<p>Hello</p>', text: 'Hello' }
const newApp = await startSharedApp()

const send = (app: TestApp, fields: object, headers = {}) =>
  app.publicApi('POST', '/emails', { ...email, ...fields }, headers)

async function inInbox(app: TestApp, messageId: string) {
  const found = await until('the email', async () => {
    const { body } = await app.manage('GET', '/organization/inbox')
    return body.data.find((each: { message_id: string }) => each.message_id === messageId)
  })
  return (await app.manage('GET', `/organization/inbox/${found.id}`)).body.data
}
const message = async (app: TestApp, id: string) => (await app.manage('GET', `/organization/messages/${id}`)).body.data

test('an email without a flow is accepted, sent and reported', async () => {
  const app = await newApp()
  const answer = await send(app, {})
  expect(answer).toMatchObject({
    status: 200,
    body: { data: { messages: [{ email: 'ada@example.com', status: 'queued', reason: null }], warnings: [] } },
  })
  const [{ id }] = answer.body.data.messages
  const sent = await inInbox(app, id)
  expect(sent).toMatchObject({ subject: 'Your invoice', to: 'ada@example.com', text: 'Hello\n' })
  expect(sent.html).toMatch(/<p>Hello<\/p><img src=".*\/t\/o\//)
  expect(await message(app, id)).toMatchObject({
    flow_name: 'Emails without a flow',
    status: 'sent',
    from: 'Acme <hello@acme.example>',
    to: ['ada@example.com'],
    html: '<p>Hello</p>',
    events: [{ event_name: 'emailSent' }],
  })
  const flows = await app.manage('GET', '/organization/flows')
  expect(flows.body.data).toEqual([])
})

test('each recipient gets a message; all see To and Cc, and nobody sees Bcc', async () => {
  const app = await newApp()
  const { body } = await send(app, {
    to: ['Ada <ada@example.com>', 'ben@example.com'],
    cc: 'Cleo <cleo@example.com>',
    bcc: ['dan@example.com', 'ADA@example.com'],
    reply_to: ['help@acme.example', 'Sales <sales@acme.example>'],
    headers: { 'X-Order': '42', 'In-Reply-To': '<a@b.example>' },
    tags: [{ name: 'kind', value: 'invoice' }],
  })
  const { messages } = body.data
  expect(messages.map((each: { email: string }) => each.email)).toEqual([
    'ada@example.com',
    'ben@example.com',
    'cleo@example.com',
    'dan@example.com',
  ])
  for (const { id, email: to } of messages) {
    const { headers, raw, to: envelope } = await inInbox(app, id)
    const values = new Map(headers.map(({ name, value }: { name: string; value: string }) => [name, value]))
    expect(values.get('To')).toBe('Ada <ada@example.com>, ben@example.com')
    expect(values.get('Cc')).toBe('Cleo <cleo@example.com>')
    expect(values.get('Reply-To')).toBe('help@acme.example, Sales <sales@acme.example>')
    expect(values.get('X-Order')).toBe('42')
    expect(values.get('In-Reply-To')).toBe('<a@b.example>')
    expect(raw).not.toMatch(/bcc|dan@/i)
    expect(envelope).toBe(to)
  }
  expect(await message(app, messages[3].id)).toMatchObject({
    contact: { email: 'dan@example.com' },
    cc: ['Cleo <cleo@example.com>'],
    tags: [{ name: 'kind', value: 'invoice' }],
  })
})

test('one of the bodies is enough, and tracking can be turned off', async () => {
  const app = await newApp()
  const html = '<a href="https://acme.example/">Shop</a>'
  const ids = []
  for (const fields of [
    { html: undefined, text: 'Only text' },
    { html, text: '' },
    { html, text: undefined, tracking: { opens: false } },
    { html, tracking: { clicks: false } },
  ]) {
    const { body } = await send(app, fields)
    ids.push(body.data.messages[0].id)
  }
  const [text, onlyHtml, noOpens, noClicks] = await Promise.all(ids.map((id) => inInbox(app, id)))
  expect(text).toMatchObject({ html: null, text: 'Only text\n' })
  expect(text.raw).toContain('Content-Type: text/plain; charset=utf-8\r\n')
  expect(onlyHtml.raw).toContain('Content-Type: text/html; charset=utf-8\r\n')
  expect(noOpens.text.trim()).toBe('Shop [https://acme.example/]')
  expect(noOpens.html).toMatch(/\/t\/c\//)
  expect(noOpens.html).not.toMatch(/\/t\/o\//)
  expect(noClicks.html).toMatch(/^<a href="https:\/\/acme\.example\/">Shop<\/a><img src=".*\/t\/o\//)
})

test('attachments and inline images are sent, listed and can be downloaded', async () => {
  await using relay = await startRelay()
  await using app = await startTestApp({ SMTP_URL: relay.url })
  const pdf = Buffer.from('%PDF-1.7 invoice')
  const { body } = await send(app, {
    html: '<img src="cid:logo">',
    attachments: [
      { filename: 'Rechnung für März.pdf', content: pdf.toString('base64') },
      { filename: 'logo.png', content: Buffer.from('png').toString('base64'), content_id: 'logo' },
    ],
  })
  const received = await until('the email', () => relay.mails[0])
  const { attachments, html } = received.mail
  expect(html).toContain('cid:logo')
  expect(attachments).toMatchObject([
    { filename: 'logo.png', mimeType: 'image/png', disposition: 'inline', contentId: '<logo>', related: true },
    { filename: 'Rechnung für März.pdf', mimeType: 'application/pdf', disposition: 'attachment' },
  ])
  expect(Buffer.from(attachments[1]!.content as ArrayBuffer)).toEqual(pdf)
  const [{ id }] = body.data.messages
  expect((await message(app, id)).attachments).toMatchObject([
    { filename: 'Rechnung für März.pdf', size_bytes: pdf.length, is_stored: true },
    { filename: 'logo.png', content_type: 'image/png' },
  ])
  const download = await app.manage('GET', `/organization/messages/${id}/attachments/0`)
  expect(download.text).toBe('%PDF-1.7 invoice')
  expect(download.headers.get('content-disposition')).toMatch(/filename\*=utf-8''Rechnung%20f%C3%BCr/)
})
