import { expect, test } from 'vitest'
import { getMessage } from '../../../test/support/messages.ts'
import { startRelay } from '../../../test/support/relay.ts'
import { create, createKey } from '../../../test/support/resources.ts'
import { startSharedApp, startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { startReceiver } from '../../../test/support/webhook-receiver.ts'
import { parseId } from '../../platform/values/ids.ts'
import { parseMailbox } from './email-input.ts'

/** A busy machine needs a tenth of this. An expression that tries every end of the name takes more than a second. */
const parseMsMax = 800

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
  expect(await getMessage(app, id)).toMatchObject({
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
  expect(await getMessage(app, messages[3].id)).toMatchObject({
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

test('tags are part of the events and webhooks of an email', async () => {
  await using receiver = await startReceiver((response) => response.end(), { plain: true })
  const app = await newApp()
  await app.manage('POST', '/organization/webhooks', { name: 'CRM', url: receiver.url(), event_types: ['emailSent'] })
  const tags = [{ name: 'order', value: '42 & more' }]
  const { body } = await send(app, { tags })
  await send(app, { to: 'ben@example.com' })
  await until('the webhooks', () => receiver.posts.length === 2)
  const data = receiver.posts.map((post) => JSON.parse(post.body.toString()).data)
  expect(data.find((each) => each.message_id === body.data.messages[0].id).tags).toEqual(tags)
  expect(data.find((each) => each.contact.email === 'ben@example.com')).not.toHaveProperty('tags')
})

test('a message is sent again with its content and files', async () => {
  const app = await newApp()
  const attachments = [{ filename: 'a.txt', content: 'YQ==' }]
  const { body } = await send(app, { to: ['ada@example.com', 'ben@example.com'], attachments })
  const again = await app.manage('POST', `/organization/messages/${body.data.messages[1].id}/send-again`)
  expect(again.body.data).toMatchObject({ contact_email: 'ben@example.com', status: 'queued' })
  expect(await getMessage(app, again.body.data.message_id)).toMatchObject({
    html: '<p>Hello</p>',
    to: ['ada@example.com', 'ben@example.com'],
    attachments: [{ filename: 'a.txt', is_stored: true }],
  })
})

test('the export of a contact has the content of its emails', async () => {
  const app = await newApp()
  const tags = [{ name: 'order', value: '42' }]
  const { body } = await send(app, { tags, attachments: [{ filename: 'a.txt', content: 'YQ==' }] })
  const { contact } = await getMessage(app, body.data.messages[0].id)
  const exported = await app.manage('GET', `/organization/contacts/${contact.id}/export`)
  const content = { html: '<p>Hello</p>', text: 'Hello', attachments: ['a.txt'], tags }
  expect(exported.body.data.messages).toMatchObject([content])
})

test('a suppressed recipient gets nothing, and the others do', async () => {
  const app = await newApp()
  await app.manage('POST', '/organization/suppressions', { email: 'ben@example.com' })
  const { body } = await send(app, { to: ['ada@example.com', 'ben@example.com'] })
  expect(body.data.messages).toMatchObject([
    { email: 'ada@example.com', status: 'queued', reason: null },
    { email: 'ben@example.com', status: 'suppressed', reason: 'manual' },
  ])
})

test('a marketing email needs a subscription, and can be unsubscribed from', async () => {
  const app = await newApp()
  const group = (await create(app, '/groups', { name: 'News' })).id
  await app.publicApi('POST', '/contacts/add-group-members', {
    group_id: group,
    members: [{ email: 'ada@example.com' }],
  })
  const { body } = await send(app, { kind: 'marketing', to: ['ada@example.com', 'stranger@example.com'] })
  expect(body.data.messages).toMatchObject([{ status: 'queued' }, { status: 'suppressed', reason: 'not_subscribed' }])
  const { raw, html, text } = await inInbox(app, body.data.messages[0].id)
  expect(raw).toMatch(/^List-Unsubscribe: <http/m)
  expect(raw).toMatch(/^List-Unsubscribe-Post: /m)
  expect(html).toMatch(/\/u\/.*Unsubscribe/)
  expect(text).toContain('Unsubscribe: http')
  expect(await getMessage(app, body.data.messages[0].id)).toMatchObject({
    flow_name: 'Marketing emails without a flow',
  })
})

test('a batch accepts each email on its own, or all of them', async () => {
  const app = await newApp()
  const emails = [email, { ...email, to: 'nobody' }, { ...email, subject: 7 }, { ...email, to: 'ben@example.com' }]
  const headers = { 'idempotency-key': 'batch-1' }
  const { status, body } = await app.publicApi('POST', '/emails/batch', emails, headers)
  expect(status).toBe(200)
  expect(body.data.results).toMatchObject([
    { ok: true, messages: [{ email: 'ada@example.com' }] },
    { ok: false, error: { type: 'validation_failed', message: 'to: is not a valid email address.' } },
    { ok: false, error: { type: 'validation_failed', fields: [{ path: 'subject', problem: 'must be string' }] } },
    { ok: true, messages: [{ email: 'ben@example.com' }] },
  ])
  const again = await app.publicApi('POST', '/emails/batch', emails, headers)
  expect([again.headers.get('idempotent-replayed'), again.body.data]).toEqual(['true', body.data])
  const atomic = await app.publicApi('POST', '/emails/batch?atomic=true', emails)
  expect([atomic.status, atomic.body.error.fields[0].path]).toEqual([422, '1.to'])
  const list = await app.manage('GET', '/organization/messages')
  expect(list.body.data).toHaveLength(2)
  for (const wrong of [[], Array(101).fill(email), {}, null])
    expect((await app.publicApi('POST', '/emails/batch', wrong)).status).toBe(422)
})

test('concurrent requests with one idempotency key send once', async () => {
  const app = await newApp()
  const to = ['ada@example.com', 'ben@example.com']
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => send(app, { to }, { 'idempotency-key': 'order-1' })),
  )
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  const list = await app.manage('GET', '/organization/messages')
  expect(list.body.data).toHaveLength(2)
  const other = await send(app, { to: 'ada@example.com' }, { 'idempotency-key': 'order-1' })
  expect([other.status, other.body.error.type]).toEqual([409, 'idempotency_key_reused'])
})

test('an erased contact is in no answer that is kept for repeated requests', async () => {
  const app = await newApp()
  const to = ['ada@example.com', 'ben@example.com']
  const first = await send(app, { to }, { 'idempotency-key': 'order-2' })
  const contacts = (await app.manage('GET', '/organization/contacts?query=ben%40example.com')).body.data
  expect((await app.manage('DELETE', `/organization/contacts/${contacts[0].id}`)).status).toBe(200)
  const kept = await app.db<{ text: string }>`
    select row_to_json(idempotency_keys)::text as text from idempotency_keys
    where organization_id = ${parseId('org', app.organizationId)}`
  expect(kept.map(({ text }) => text).filter((text) => text.includes('ben@'))).toEqual([])
  // The repeated request contains the address.
  expect((await send(app, { to }, { 'idempotency-key': 'order-2' })).body).toEqual(first.body)
})

test('a repeated request is answered from the answers that earlier versions stored', async () => {
  const app = await newApp()
  const headers = { 'idempotency-key': 'old' }
  const emails = [
    { ...email, to: ['ada@example.com', 'ben@example.com'] },
    { ...email, to: 'nobody' },
  ]
  const first = (await app.publicApi('POST', '/emails/batch', emails, headers)).body
  const [{ id, messages }] = first.data.results
  // Those of 0.2.0 have the messages without their addresses.
  const error = {
    type: 'validation_failed',
    message: first.data.results[1].error.message,
    fields: first.data.results[1].error.fields,
  }
  await app.db.statement`
    update idempotency_keys set answer = ${JSON.stringify({ emails: [{ id, messages }, { error }] })}::jsonb
    where organization_id = ${parseId('org', app.organizationId)}`
  const again = await app.publicApi('POST', '/emails/batch', emails, headers)
  expect([again.headers.get('idempotent-replayed'), again.status, again.body]).toEqual(['true', 200, first])
})

test('a repeated request whose first answer cannot be read is rejected and sends nothing', async () => {
  const app = await newApp()
  const headers = { 'idempotency-key': 'unknown' }
  const answer = (answer: unknown) => app.db.statement`
    update idempotency_keys set answer = ${JSON.stringify(answer)}::jsonb
    where organization_id = ${parseId('org', app.organizationId)}`
  await send(app, {}, headers)
  const message = { status: 'queued', reason: null, warnings: [], contact_created: false }
  const unknown = [
    ...[{}, [], 'text', null, 7, [null], [{}], [{ messages: [] }], [{ id: null, messages: [message] }]],
    ...[{ emails: null }, { emails: [{}] }, { emails: [{ id: 'eml_1', messages: [{ id: 'msg_1' }] }] }],
    // Of a message that was deleted.
    [{ id: null, messages: [{ ...message, id: '01890000-0000-7000-8000-000000000002' }] }],
  ]
  for (const each of unknown) {
    await answer(each)
    const { status, body } = await send(app, {}, headers)
    expect([each, status, body.error?.type]).toEqual([each, 409, 'conflict'])
  }
  expect((await app.manage('GET', '/organization/messages')).body.data).toHaveLength(1)
})

test('a scheduled email is sent at its time, and can be cancelled', async () => {
  const app = await newApp()
  const send_at = new Date(Date.now() + 3_600_000).toISOString()
  const { body } = await send(app, { send_at })
  const [{ id, status }] = body.data.messages
  expect(status).toBe('scheduled')
  const cancelled = await app.publicApi('DELETE', `/messages/${id}`)
  expect(cancelled.body.data).toEqual({ message_id: id, status: 'cancelled' })
})

test('a transactional email may have its own unsubscribe header', async () => {
  const app = await newApp()
  expect((await send(app, { headers: { 'List-Unsubscribe': '<https://shop.example/u>' } })).status).toBe(200)
})

const injection = 'x\r\nBcc: eve@example.com'
test.for([
  [{ from: `Acme ${injection} <a@acme.example>` }, 'from'],
  [{ from: 'Acme <a@acme.example>, Eve <e@evil.example>' }, 'from'],
  [{ to: `ada@example.com${injection}` }, 'to'],
  [{ to: ['ada@example.com', `"${injection}" <b@example.com>`] }, 'to.1'],
  [{ cc: `ada@example.com, ben@example.com` }, 'cc'],
  [{ reply_to: injection }, 'reply_to'],
  [{ subject: injection }, 'subject'],
  [{ subject: '' }, 'subject'],
  [{ headers: { 'X-A': injection } }, 'headers.X-A'],
  [{ headers: { 'X-A\r\nBcc': 'a' } }, 'headers.X-A\r\nBcc'],
  [{ headers: { Bcc: 'eve@example.com' } }, 'headers.Bcc'],
  [{ headers: { From: 'eve@example.com' } }, 'headers.From'],
  [{ headers: { 'Message-ID': '<a@b>' } }, 'headers.Message-ID'],
  [{ headers: { 'Content-Type': 'text/plain' } }, 'headers.Content-Type'],
  [{ headers: { 'DKIM-Signature': 'v=1' } }, 'headers.DKIM-Signature'],
  [{ headers: { 'X-SMTPAPI': '{"to":["eve@example.com"]}' } }, 'headers.X-SMTPAPI'],
  [{ headers: { 'X-Virtual-MTA': 'fast' } }, 'headers.X-Virtual-MTA'],
  [{ headers: { 'X-GreenArrow-VirtualMTA': 'fast' } }, 'headers.X-GreenArrow-VirtualMTA'],
  [{ headers: { 'X-Elasticemail-Pool': 'fast' } }, 'headers.X-Elasticemail-Pool'],
  [{ headers: { 'X-KumoRef': 'eyJ0IjoiYSJ9' } }, 'headers.X-KumoRef'],
  [{ headers: { 'x-a': '1', 'X-A': '2' } }, 'headers.X-A'],
  [{ kind: 'marketing', headers: { 'List-Unsubscribe': '<https://evil.example>' } }, 'headers.List-Unsubscribe'],
  [{ headers: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`X-${n}`, '1'])) }, 'headers'],
  [{ tags: [{ name: 'a b', value: '' }] }, 'tags.0.name'],
  [{ tags: [{ name: 'a', value: 'x'.repeat(257) }] }, 'tags.0.value'],
  [{ tags: [{ name: 'a', value: 'b\nc' }] }, 'tags.0.value'],
  [{ tags: Array(11).fill({ name: 'a', value: '' }) }, 'tags'],
  [{ to: Array.from({ length: 51 }, (_, n) => `a${n}@example.com`) }, 'to'],
  [{ html: undefined, text: undefined }, 'html'],
  [{ html: 'x'.repeat(1024 * 1024 + 1) }, 'html'],
  [{ text: 'a\0b' }, 'text'],
  [{ scheduled_at: '2030-01-01T00:00:00Z' }, 'scheduled_at'],
  [{ to: { email: 'ada@example.com' } }, 'to'],
] as const)('an email is rejected: %j', async ([fields, path]) => {
  const app = await newApp()
  const { status, body } = await send(app, fields)
  expect([status, body.error.type]).toEqual([422, 'validation_failed'])
  expect(body.error.fields[0].path).toBe(path)
})

test('a key that may only send without a flow cannot send through flows', async () => {
  const app = await newApp()
  const headers = { 'x-api-token': await createKey(app, ['messages:send']) }
  const call = (path: string, body: object) => app.call('POST', `/public/api/v1${path}`, { headers, body })
  expect((await call('/emails', email)).status).toBe(200)
  const rejected = await call('/flow/send-email-through-flow', { flow_id: 'flw_x', contact_email: 'a@example.com' })
  expect([rejected.status, rejected.body.error.type]).toEqual([403, 'insufficient_scope'])
})

test('the flow of emails without one cannot be used, changed or deleted', async () => {
  const app = await newApp()
  const { body } = await send(app, {})
  const { flow_id: id } = await getMessage(app, body.data.messages[0].id)
  const path = `/organization/flows/${id}`
  for (const [method, url, fields] of [
    ['GET', path],
    ['PATCH', path, { name: 'Mine' }],
    ['DELETE', path],
    ['PUT', `${path}/draft`, { subject: 'Mine' }],
    ['POST', `${path}/publish`, {}],
    ['POST', `${path}/test`, { to: 'a@example.com' }],
    ['POST', `${path}/send`, { contact_email: 'a@example.com' }],
    ['POST', `${path}/duplicate`, {}],
  ] as const)
    expect([method, url, (await app.manage(method, url, fields)).status]).toEqual([method, url, 404])
  const through = await app.publicApi('POST', '/flow/send-email-through-flow', {
    flow_id: id,
    contact_email: 'a@example.com',
  })
  expect(through.status).toBe(404)
  const broadcast = await app.manage('POST', '/organization/broadcasts', { name: 'B', flow_id: id })
  expect(broadcast.status).toBeGreaterThanOrEqual(400)
  expect((await app.manage('GET', `/organization/events?flow_id=${id}`)).status).toBe(200)
})

test('a sender outside of the allowed domains is rejected', async () => {
  await using app = await startTestApp({ REQUIRE_VERIFIED_DOMAINS: 'true', ALLOWED_SENDER_DOMAINS: 'acme.example' }, [
    'serve',
  ])
  expect((await send(app, {})).status).toBe(200)
  const { status, body } = await send(app, { from: 'eve@evil.example' })
  expect([status, body.error.type]).toEqual([422, 'sender_not_verified'])
})

test('contents and files of organizations are apart', async () => {
  const [app, other] = [await newApp(), await newApp()]
  const attachments = [{ filename: 'a.txt', content: 'c2VjcmV0' }]
  const { body } = await send(app, { attachments })
  await send(other, { attachments })
  const [{ id }] = body.data.messages
  for (const path of [`/organization/messages/${id}`, `/organization/messages/${id}/attachments/0`])
    expect((await other.manage('GET', path)).status).toBe(404)
  const files = await app.db<{ organizationId: string }>`
    select organization_id from stored_files where hash = sha256('secret')`
  expect(new Set(files.map(({ organizationId }) => organizationId)).size).toBe(2)
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
  expect((await getMessage(app, id)).attachments).toMatchObject([
    { filename: 'Rechnung für März.pdf', size_bytes: pdf.length, is_stored: true },
    { filename: 'logo.png', content_type: 'image/png' },
  ])
  const download = await app.manage('GET', `/organization/messages/${id}/attachments/0`)
  expect(download.text).toBe('%PDF-1.7 invoice')
  expect(download.headers.get('content-disposition')).toMatch(/filename\*=utf-8''Rechnung%20f%C3%BCr/)
})

test('addresses are read in linear time, and a name may be in quotes', () => {
  const mailbox = `a ${' '.repeat(190)}b <x@y.co>`
  const before = process.cpuUsage()
  for (let at = 0; at < 20_000; at++) parseMailbox('to', mailbox)
  const { user, system } = process.cpuUsage(before)
  expect((user + system) / 1000).toBeLessThan(parseMsMax)
  const parsed = (text: string) => {
    const { name, email: address } = parseMailbox('to', text)
    return [name, address]
  }
  expect(parsed(' Ada  <ada@example.com> ')).toEqual(['Ada', 'ada@example.com'])
  expect(parsed('"Ada <\\"A\\">" <ada@example.com>')).toEqual(['Ada <"A">', 'ada@example.com'])
  expect(parsed('<ada@example.com>')).toEqual([null, 'ada@example.com'])
  for (const wrong of [
    'Ada <ada@example.com> x',
    'A<B <ada@example.com>',
    '"A" B <ada@example.com>',
    'a@b.co>',
    'A <a@b.co>>',
  ])
    expect(() => parseMailbox('to', wrong)).toThrow('must be an address')
})

test('a request lists at most 1,000 addresses, which are counted before any is read', async () => {
  const app = await newApp()
  const addresses = Array.from({ length: 50 }, (_, at) => `wrong${at}`)
  const emails = Array.from({ length: 21 }, () => ({ ...email, to: addresses }))
  const { status, body } = await app.publicApi('POST', '/emails/batch', emails)
  expect([status, body.error.fields]).toEqual([422, [{ path: 'body', problem: 'must have at most 1000 recipients' }]])
})

test('a header that cannot be set and several addresses in one text are rejected with what to use instead', async () => {
  const app = await newApp()
  const problemOf = async (fields: object) => (await send(app, fields)).body.error.fields[0].problem
  expect(await problemOf({ headers: { 'Reply-To': 'a@acme.example' } })).toBe('is not allowed. Use the field reply_to')
  for (const name of ['Message-ID', 'Date', 'Sender'])
    expect(await problemOf({ headers: { [name]: 'x' } })).toBe(
      'is not allowed: the service sets it, or it has no effect. Use a header that starts with X-',
    )
  for (const to of ['ada@example.com, ben@example.com', 'Ada <ada@example.com>; ben@example.com'])
    expect(await problemOf({ to })).toBe('must be one address. Use an array for several')
  expect((await send(app, { to: ['nobody', 'noone', 'ada@example.com'] })).body.message).toMatch(/^to\.0: /)
})

test('an email that the full disk of the database cannot hold is answered with 503', async () => {
  await using app = await startTestApp({}, ['serve'])
  await app.db.statement.script(`
    create function fill_disk() returns trigger language plpgsql as
      $$ begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`)
  for (const table of ['contacts', 'messages', 'jobs']) {
    await app.db.statement.script(`create trigger full_disk before insert on ${table} execute function fill_disk()`)
    const answer = await send(app, { to: `${table}@example.com` })
    expect([table, answer.status, answer.body.error.type]).toEqual([table, 503, 'unavailable'])
    await app.db.statement.script(`drop trigger full_disk on ${table}`)
  }
})
