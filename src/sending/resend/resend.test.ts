import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import { create, createKey } from '../../../test/support/resources.ts'
import { startSharedApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'

// Loaded without its types, which include those of React and thereby change global types of all tests.
// biome-ignore lint/suspicious/noExplicitAny: see above
type Call = (...values: any[]) => Promise<{ data: any; error: { statusCode: number; name: string } | null }>
const { Resend } = createRequire(import.meta.url)('resend') as {
  Resend: new (key: string, options: { baseUrl: string }) => SdkClient
}

const newApp = await startSharedApp()
const clientOf = (app: TestApp, key = app.apiKey) => new Resend(key, { baseUrl: app.url })
type SdkClient = {
  emails: Record<'send' | 'get' | 'update' | 'cancel' | 'list', Call>
  batch: { send: Call }
  domains: Record<'list' | 'get' | 'create', Call>
}
const keyWith = async (app: TestApp, ...scopes: string[]): Promise<string> => await createKey(app, scopes)
const from = 'Acme <hello@acme.example>'
const email = { from, to: 'ada@example.com', subject: 'Hello', html: '<p>Hello</p>' }
const inOneHour = () => new Date(Date.now() + 3_600_000).toISOString()

test('the SDK of Resend sends an email and reads it', async () => {
  const app = await newApp()
  const resend = clientOf(app, await keyWith(app, 'messages:send', 'messages:read'))
  const sent = await resend.emails.send({
    ...email,
    to: ['ada@example.com', 'Ben <ben@example.com>'],
    cc: 'cleo@example.com',
    bcc: 'dan@example.com',
    replyTo: 'help@acme.example',
    text: 'Hello',
    headers: { 'X-Order': '42' },
    tags: [{ name: 'category', value: 'welcome' }],
    attachments: [{ filename: 'a.txt', content: Buffer.from('hello') }],
  })
  expect(sent.error).toBeNull()
  const { id } = sent.data!
  const read = await until('the email to be sent', async () => {
    const { data } = await resend.emails.get(id)
    return data?.last_event === 'sent' && data
  })
  expect(read).toMatchObject({
    object: 'email',
    id,
    from,
    to: ['ada@example.com', 'Ben <ben@example.com>'],
    cc: ['cleo@example.com'],
    bcc: ['dan@example.com'],
    reply_to: ['help@acme.example'],
    subject: 'Hello',
    html: '<p>Hello</p>',
    text: 'Hello',
    scheduled_at: null,
    tags: [{ name: 'category', value: 'welcome' }],
  })
  const messages = await app.manage('GET', '/organization/messages')
  expect(messages.body.data).toHaveLength(4)
})

test('a key that may only send sends with the SDK, and reads neither contents nor domains', async () => {
  const app = await newApp()
  const { id: domainId } = await create(app, '/domains', { name: 'acme-sending.com' })
  const resend = clientOf(app, await keyWith(app, 'messages:send'))
  const { data } = await resend.emails.send({
    ...email,
    text: 'Hello',
    bcc: 'dan@example.com',
    scheduledAt: inOneHour(),
  })
  const { id } = data!
  expect((await resend.emails.get(id)).data).toMatchObject({
    id,
    html: null,
    text: null,
    bcc: [],
    last_event: 'scheduled',
  })
  for (const { error } of [await resend.domains.list(), await resend.domains.get(domainId)])
    expect(error).toMatchObject({ statusCode: 401, name: 'restricted_api_key' })
  expect((await resend.emails.cancel(id)).error).toBeNull()
})

test('an idempotency key repeats the response', async () => {
  const app = await newApp()
  const resend = clientOf(app)
  const first = await resend.emails.send(email, { idempotencyKey: 'order-1' })
  const again = await resend.emails.send(email, { idempotencyKey: 'order-1' })
  expect(again.data).toEqual(first.data)
  const other = await resend.emails.send({ ...email, subject: 'Other' }, { idempotencyKey: 'order-1' })
  expect(other.error).toMatchObject({ statusCode: 409, name: 'invalid_idempotent_request' })
})

test('a batch is accepted as a whole, or each email on its own', async () => {
  const app = await newApp()
  const resend = clientOf(app)
  const sent = await resend.batch.send([email, { ...email, to: 'ben@example.com' }])
  expect(sent.data?.data).toHaveLength(2)
  const wrong = { ...email, to: 'ben' }
  const strict = await resend.batch.send([email, wrong])
  expect(strict.error).toMatchObject({ statusCode: 422, name: 'validation_error' })
  const permissive = await resend.batch.send([email, wrong], { batchValidation: 'permissive' })
  expect(permissive.data).toMatchObject({
    data: [{ id: expect.stringMatching(/^eml_/) }],
    errors: [{ index: 1, message: 'to: is not a valid email address.' }],
  })
  const messages = await app.manage('GET', '/organization/messages')
  expect(messages.body.data).toHaveLength(3)
})

test('a scheduled email is rescheduled and cancelled', async () => {
  const app = await newApp()
  const resend = clientOf(app)
  const to = ['ada@example.com', 'ben@example.com']
  const { data } = await resend.emails.send({ ...email, to, scheduledAt: 'in 30 minutes' })
  const { id } = data!
  expect((await resend.emails.get(id)).data).toMatchObject({ last_event: 'scheduled' })
  const scheduledAt = inOneHour()
  expect((await resend.emails.update({ id, scheduledAt })).data).toEqual({ object: 'email', id })
  expect((await resend.emails.get(id)).data).toMatchObject({ last_event: 'scheduled', scheduled_at: scheduledAt })
  const jobs = await app.db`select due_at from jobs where kind = 'message.send'`
  expect(jobs).toEqual([{ dueAt: new Date(scheduledAt) }, { dueAt: new Date(scheduledAt) }])
  expect((await resend.emails.cancel(id)).data).toEqual({ object: 'email', id })
  expect((await resend.emails.get(id)).data).toMatchObject({ last_event: 'canceled' })
  expect((await resend.emails.update({ id, scheduledAt })).error).toMatchObject({ statusCode: 422 })
  const messages = await app.manage('GET', '/organization/messages?status=cancelled')
  expect(messages.body.data).toHaveLength(2)
})

test('errors have the form of the Resend API', async () => {
  const app = await newApp()
  const resend = clientOf(app)
  const errorOf = async (fields: object) => (await resend.emails.send({ ...email, ...fields })).error
  expect(await errorOf({ subject: undefined })).toEqual({
    statusCode: 422,
    name: 'missing_required_field',
    message: 'subject: is required.',
  })
  expect(await errorOf({ to: 'nobody' })).toMatchObject({ statusCode: 422, name: 'validation_error' })
  expect(await errorOf({ attachments: [{ path: 'https://acme.example/a.pdf', filename: 'a.pdf' }] })).toMatchObject({
    name: 'invalid_attachment',
    message: expect.stringContaining('the service does not fetch files'),
  })
  expect(await errorOf({ template: { id: 't' }, html: undefined })).toMatchObject({
    message: 'template: is not supported. Send html or text, or use a flow.',
  })
  expect(await errorOf({ scheduledAt: 'tomorrow' })).toMatchObject({ message: expect.stringContaining('scheduled_at') })
  const wrongKey = clientOf(app, `wxk_${'x'.repeat(40)}`)
  expect((await wrongKey.emails.send(email)).error).toMatchObject({ statusCode: 403, name: 'invalid_api_key' })
  expect((await resend.emails.get('nothing')).error).toMatchObject({ statusCode: 404, name: 'not_found' })
  expect((await resend.emails.list()).error).toMatchObject({
    statusCode: 404,
    message: 'This operation of the Resend API is not supported by this service.',
  })
  expect((await resend.domains.create({ name: 'acme.example' })).error).toMatchObject({ statusCode: 404 })
})

test('unsupported paths and methods are answered in the form of the Resend API, except to browsers and for other APIs', async () => {
  const app = await newApp()
  const authorization = `Bearer ${app.apiKey}`
  const answerOf = async (method: string, path: string, accept = '*/*') => {
    const headers = { authorization, accept, 'content-type': 'application/json' }
    const response = await fetch(`${app.url}${path}`, { method, headers, ...(method !== 'GET' && { body: '{}' }) })
    const text = await response.text()
    return [response.status, text.startsWith('{') ? JSON.parse(text) : text]
  }
  const unsupported = {
    statusCode: 404,
    name: 'not_found',
    message: 'This operation of the Resend API is not supported by this service.',
  }
  for (const path of [
    '/broadcasts',
    '/contacts',
    '/contacts/1',
    '/audiences',
    '/api-keys',
    '/webhooks',
    '/templates/t',
  ])
    expect([path, await answerOf('GET', path)]).toEqual([path, [404, unsupported]])
  for (const path of ['/broadcasts', '/contacts', '/audiences', '/segments'])
    expect(await answerOf('POST', path)).toEqual([404, unsupported])
  expect(await answerOf('PUT', '/emails')).toMatchObject([405, { statusCode: 405, name: 'method_not_allowed' }])
  expect(await answerOf('GET', '/broadcasts', 'text/html')).toEqual([200, expect.stringContaining('<!doctype html>')])
  for (const path of ['/api/v1/nothing', '/public/api/v1/nothing'])
    expect(await answerOf('POST', path)).toMatchObject([404, { status: 'error', error: { type: 'not_found' } }])
  expect(await answerOf('DELETE', '/health')).toMatchObject([405, { status: 'error' }])
})

test('a time without a zone is in UTC', async () => {
  const app = await newApp()
  const resend = clientOf(app)
  const time = `${inOneHour().slice(0, 19)}.123456`
  const { data } = await resend.emails.send({ ...email, scheduledAt: time })
  const scheduledAt = `${time.slice(0, -3)}Z`
  expect((await resend.emails.get(data!.id)).data).toMatchObject({ last_event: 'scheduled', scheduled_at: scheduledAt })
})

test('a missing key is asked for in the header that the client can send', async () => {
  const app = await newApp()
  const messageOf = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${app.url}${path}`, { method: 'POST', headers })
    return ((await response.json()) as { message: string }).message
  }
  const bearer = 'The API key is missing or invalid. Send it in the Authorization header, as Bearer wxk_….'
  expect(await messageOf('/emails')).toBe(bearer)
  expect(await messageOf('/emails', { authorization: 'Bearer wxk_no' })).toBe(bearer)
  expect(await messageOf('/public/api/v1/emails', { authorization: 'Bearer wxk_no' })).toBe(bearer)
  expect(await messageOf('/public/api/v1/emails')).toBe(
    'The API key is missing or invalid. Send it in the X-Api-Token header.',
  )
})

test('domains can be read', async () => {
  const app = await newApp()
  const { body } = await app.manage('POST', '/organization/domains', { name: 'acme-resend.com' })
  const resend = clientOf(app, await keyWith(app, 'messages:read'))
  const { data } = await resend.domains.list()
  expect(data).toMatchObject({
    object: 'list',
    data: [{ id: body.data.id, name: 'acme-resend.com', status: 'pending' }],
  })
  expect((await resend.domains.get(body.data.id)).data).toMatchObject({ object: 'domain', name: 'acme-resend.com' })
})

test('another organization sees and changes nothing', async () => {
  const [app, other] = [await newApp(), await newApp()]
  const { data } = await clientOf(app).emails.send({ ...email, scheduledAt: inOneHour() })
  const { id } = data!
  const domain = await app.manage('POST', '/organization/domains', { name: 'acme-other.com' })
  const stranger = clientOf(other, await keyWith(other, 'messages:send', 'messages:read'))
  for (const { error } of [
    await stranger.emails.get(id),
    await stranger.emails.cancel(id),
    await stranger.emails.update({ id, scheduledAt: inOneHour() }),
    await stranger.domains.get(domain.body.data.id),
  ])
    expect(error).toMatchObject({ statusCode: 404, name: 'not_found' })
  expect((await stranger.domains.list()).data?.data).toEqual([])
  expect((await clientOf(app).emails.get(id)).data).toMatchObject({ last_event: 'scheduled' })
})

test('a browser gets the API, and a key that may not send is rejected', async () => {
  const app = await newApp()
  const page = await fetch(`${app.url}/emails/x`, { headers: { accept: 'text/html' } })
  expect([page.status, await page.json()]).toMatchObject([401, { name: 'missing_api_key' }])
  const reader = await createKey(app, ['contacts:read'])
  const restricted = await clientOf(app, reader).emails.send(email)
  expect(restricted.error).toMatchObject({ statusCode: 401, name: 'restricted_api_key' })
})
