import { expect, test } from 'vitest'
import { registerOther } from '../../../test/support/people.ts'
import { createKey } from '../../../test/support/resources.ts'
import { startSharedApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'

const newOrganization = await startSharedApp()

/** With a key that may also read. */
async function newApp(): Promise<TestApp> {
  const app = await newOrganization()
  const key = await createKey(app, ['messages:send', 'messages:read'])
  return {
    ...app,
    publicApi: (method, path, body) =>
      app.call(method, `/public/api/v1${path}`, { headers: { 'x-api-token': key }, body }),
  }
}
const email = {
  from: 'hello@acme.example',
  subject: 'Your invoice',
  text: 'Hello',
  to: ['ada@example.com', 'ben@example.com'],
}
const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()

async function send(app: TestApp, fields: object = {}): Promise<string> {
  const { body } = await app.publicApi('POST', '/emails', { ...email, ...fields })
  return body.data.id
}
const call = async (app: TestApp, method: string, id: string, body?: object) => {
  const answer = await app.publicApi(method, `/emails/${id}`, body)
  return { status: answer.status, data: answer.body.data, error: answer.body.error }
}

test('an email is read with the status of each recipient', async () => {
  const app = await newApp()
  await app.manage('POST', '/organization/suppressions', { email: 'cleo@example.com' })
  const id = await send(app, { cc: 'cleo@example.com' })
  const { data } = await until('the email to be sent', async () => {
    const answer = await call(app, 'GET', id)
    return answer.data.messages.every(({ status }: { status: string }) => status !== 'queued') && answer
  })
  expect(data).toEqual({
    id,
    subject: 'Your invoice',
    status: 'partly_sent',
    send_at: null,
    created_at: expect.stringMatching(/^\d{4}-/),
    messages: [
      { id: expect.stringMatching(/^msg_/), email: 'ada@example.com', status: 'sent', reason: null },
      { id: expect.stringMatching(/^msg_/), email: 'ben@example.com', status: 'sent', reason: null },
      { id: expect.stringMatching(/^msg_/), email: 'cleo@example.com', status: 'suppressed', reason: 'manual' },
    ],
  })
  const suppressed = await send(app, { to: 'cleo@example.com' })
  expect((await call(app, 'GET', suppressed)).data.status).toBe('failed')
  const all = await send(app)
  await until('both to be sent', async () => (await call(app, 'GET', all)).data.status === 'sent')
  for (const [method, body] of [['DELETE'], ['PATCH', { send_at: inHours(1) }]] as const)
    expect(await call(app, method, all, body)).toMatchObject({ status: 409, error: { type: 'conflict' } })
})

test('a scheduled email is rescheduled and cancelled for all recipients', async () => {
  const app = await newApp()
  const id = await send(app, { send_at: inHours(1) })
  const later = inHours(2)
  const moved = await call(app, 'PATCH', id, { send_at: later })
  expect(moved).toMatchObject({
    status: 200,
    data: { id, status: 'scheduled', send_at: later, messages: [{ status: 'scheduled' }, { status: 'scheduled' }] },
  })
  expect((await call(app, 'GET', id)).data).toEqual(moved.data)
  expect((await call(app, 'PATCH', id, { sendAt: later })).error.fields).toContainEqual({
    path: 'sendAt',
    problem: 'is unknown. Did you mean send_at?',
  })
  for (const sendAt of ['tomorrow', '2026-03-02T09:30:00', inHours(24 * 100)])
    expect((await call(app, 'PATCH', id, { send_at: sendAt })).status).toBe(422)
  const cancelled = await call(app, 'DELETE', id)
  expect(cancelled).toMatchObject({
    status: 200,
    data: { id, status: 'cancelled', messages: [{ status: 'cancelled' }, { status: 'cancelled' }] },
  })
  expect(await call(app, 'DELETE', id)).toEqual(cancelled)
  expect((await call(app, 'PATCH', id, { send_at: later })).status).toBe(409)
  expect(await app.db`select from jobs where kind = 'message.send'`).toHaveLength(0)
})

test('an email that is moved to a time that has passed is sent', async () => {
  const app = await newApp()
  const id = await send(app, { send_at: inHours(1) })
  expect((await call(app, 'PATCH', id, { send_at: inHours(-1) })).status).toBe(200)
  await until('the email to be sent', async () => (await call(app, 'GET', id)).data.status === 'sent')
})

test('a recipient who is cancelled alone leaves the email to the others', async () => {
  const app = await newApp()
  const id = await send(app, { send_at: inHours(1) })
  const { data } = await call(app, 'GET', id)
  await app.publicApi('DELETE', `/messages/${data.messages[0].id}`)
  expect((await call(app, 'GET', id)).data).toMatchObject({
    status: 'scheduled',
    messages: [{ status: 'cancelled' }, { status: 'scheduled' }],
  })
  expect((await call(app, 'PATCH', id, { send_at: inHours(2) })).status).toBe(409)
  expect((await call(app, 'DELETE', id)).data).toMatchObject({
    status: 'cancelled',
    messages: [{ status: 'cancelled' }, { status: 'cancelled' }],
  })
})

test('another organization and a key without the scope get nothing, and change nothing', async () => {
  const app = await newApp()
  const id = await send(app, { send_at: inHours(1) })
  const before = await call(app, 'GET', id)
  const other = await registerOther(app)
  const statuses = async (key: string) => {
    const headers = { 'x-api-token': key }
    const path = `/public/api/v1/emails/${id}`
    const body = { send_at: inHours(3) }
    const answers = [
      await app.call('GET', path, { headers }),
      await app.call('PATCH', path, { headers, body }),
      await app.call('DELETE', path, { headers }),
    ]
    return answers.map(({ status }) => status)
  }
  expect(await statuses(await createKey(other, ['messages:read', 'messages:send']))).toEqual([404, 404, 404])
  expect(await statuses(await createKey(app, ['contacts:read']))).toEqual([403, 403, 403])
  expect((await app.call('GET', `/public/api/v1/emails/${id}`)).status).toBe(401)
  expect(await call(app, 'GET', id)).toEqual(before)
  for (const wrong of ['nothing', id.replace('eml_', 'msg_')]) expect((await call(app, 'GET', wrong)).status).toBe(404)
  const reader = { 'x-api-token': await createKey(app, ['messages:read']) }
  expect((await app.call('DELETE', `/public/api/v1/emails/${id}`, { headers: reader })).status).toBe(403)
})
