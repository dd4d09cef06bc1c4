import { pino } from 'pino'
import { expect, test } from 'vitest'
import { failureLog } from '../../../test/support/failure-log.ts'
import { createFlow, send } from '../../../test/support/flows.ts'
import { registerOther } from '../../../test/support/people.ts'
import { create } from '../../../test/support/resources.ts'
import { callUrl, startSharedApp, startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { createTestDb } from '../../../test/support/test-db.ts'
import { until } from '../../../test/support/until.ts'
import type { Db } from '../../platform/db/db.ts'
import { newId } from '../../platform/values/ids.ts'
import { ApiRequestLog, deleteExpiredApiRequests, type NewApiRequest } from './api-request-log.ts'

const newApp = await startSharedApp()

type Listed = { request_id: string; status: number; path: string; method: string; api_key_id: string }

const list = async (app: TestApp, query = ''): Promise<Listed[]> =>
  (await app.manage('GET', `/organization/api-requests?${query}`)).body.data

/** Waits until the request of this response is stored, and returns it. */
const requestOf = (app: TestApp, { headers }: { headers: Headers }) =>
  until('the request to be stored', async () => {
    const { status, body } = await app.manage('GET', `/organization/api-requests/${headers.get('x-request-id')}`)
    return status === 200 && body.data
  })

test('a rejected request is found by its request id, with its error and its body without secrets', async () => {
  const app = await newApp()
  const flowId = await createFlow(app)
  const answer = await send(app, flowId, {
    contact_email: 'not an address',
    context: { order_id: 1, password: 'hunter2', token: 'abc' },
  })
  expect(answer.status).toBe(422)
  const request = await requestOf(app, answer)
  const [key] = (await app.manage('GET', '/organization/api-keys')).body.data
  expect(request).toMatchObject({
    request_id: answer.body.error.request_id,
    api_key_id: key.id,
    api_key_name: key.name,
    via: 'api',
    method: 'POST',
    route: '/public/api/v1/flow/send-email-through-flow',
    path: '/public/api/v1/flow/send-email-through-flow',
    status: 422,
    error_type: 'validation_failed',
    error_message: answer.body.message,
    error_fields: answer.body.error.fields,
    client: '127.0.0.1',
    query: null,
  })
  expect(request.duration_ms).toBeGreaterThan(0)
  expect(Math.abs(Date.parse(request.at) - Date.now())).toBeLessThan(60_000)
  expect(JSON.parse(request.body)).toEqual({
    flow_id: flowId,
    contact_email: 'not an address',
    context: { order_id: 1, password: '[redacted]', token: '[redacted]' },
  })
})

test('a send is recorded with its message and why it is not sent; erasing the contact removes the response', async () => {
  const app = await newApp()
  const flowId = await createFlow(app)
  const sent = await send(app, flowId, { contact_email: 'Ada@Example.com', context: { order_id: 1 } })
  const recorded = await requestOf(app, sent)
  expect(recorded).toMatchObject({ status: 200, not_sent: null, body: null })
  expect(JSON.parse(recorded.response)).toMatchObject({
    message: 'Email queued',
    data: { message_id: sent.body.data.message_id, contact_email: sent.body.data.contact_email },
  })
  expect(recorded.message_ids).toEqual([sent.body.data.message_id])

  await app.manage('POST', '/organization/suppressions', { email: 'bob@example.com' })
  const refused = await send(app, flowId, { contact_email: 'bob@example.com', context: { order_id: 1 } })
  expect(await requestOf(app, refused)).toMatchObject({ status: 200, not_sent: 'manual' })
  const email = { from: 'shop@acme.example', to: ['bob@example.com', 'eve@example.com'], subject: 'Hi', text: 'Hi' }
  const partly = await app.publicApi('POST', '/emails', email)
  const messageIds = partly.body.data.messages.map(({ id }: { id: string }) => id)
  expect(await requestOf(app, partly)).toMatchObject({ status: 200, not_sent: 'manual', message_ids: messageIds })
  // The response of Resend names only the email.
  const headers = { authorization: `Bearer ${app.apiKey}` }
  const ofResend = await callUrl('POST', `${app.url}/emails`, { headers, body: { ...email, to: 'eve@example.com' } })
  const { message_ids: found } = await requestOf(app, ofResend)
  const [newest] = (await app.manage('GET', '/organization/messages?limit=1')).body.data
  expect(found).toEqual([newest.id])
  const listed = (await app.manage('GET', '/organization/api-requests')).body.data
  expect(listed.map(({ not_sent: reason }: { not_sent: string | null }) => reason)).toEqual([
    null,
    'manual',
    'manual',
    null,
  ])

  await app.manage('DELETE', `/organization/contacts/${sent.body.data.contact_id}`)
  expect(await requestOf(app, sent)).toMatchObject({ status: 200, response: null })
  expect((await requestOf(app, refused)).response).toMatch(/bob@example\.com/)
})

test('requests of a valid key to unknown paths are recorded with the hint of the response', async () => {
  const app = await newApp()
  const guessed = await app.publicApi('GET', '/contacts?page=1')
  const hint = 'Not found. Did you mean /api/v1/organization/contacts?'
  expect([guessed.status, guessed.body.message]).toEqual([404, hint])
  expect(await requestOf(app, guessed)).toMatchObject({
    status: 404,
    method: 'GET',
    route: '*',
    path: '/public/api/v1/contacts',
    query: { page: '1' },
    error_type: 'not_found',
    error_message: hint,
  })
  const wrongMethod = await app.publicApi('PUT', '/flow/send-email-through-flow', { flow_id: 'flw_none' })
  expect(await requestOf(app, wrongMethod)).toMatchObject({
    status: 405,
    error_message: 'PUT is not allowed for this path. Use POST.',
    body: null,
  })
  const headers = { authorization: `Bearer ${app.apiKey}` }
  const ofResend = await callUrl('POST', `${app.url}/audiences`, { headers, body: {} })
  expect(await requestOf(app, ofResend)).toMatchObject({
    status: 404,
    path: '/audiences',
    error_message: 'This operation of the Resend API is not supported by this service.',
  })
  const unknownKey = await app.call('GET', '/public/api/v1/nothing', {
    headers: { 'x-api-token': `wxk_${'x'.repeat(43)}` },
  })
  const none = await app.publicApi('GET', '/nothing')
  expect([none.status, none.body.message]).toEqual([404, 'Not found.'])
  await requestOf(app, none)
  // It was made earlier, so it would be stored by now.
  expect(await list(app, `request_id=${unknownKey.headers.get('x-request-id')}`)).toEqual([])
})

test('successful reads are listed without their body and response, and the path without the query', async () => {
  const app = await newApp()
  const ok = await app.publicApi('GET', '/token/check')
  const request = await requestOf(app, ok)
  expect(request).toMatchObject({
    status: 200,
    error_type: null,
    error_message: null,
    body: null,
    response: null,
    query: null,
  })
  const wrong = await app.publicApi('GET', '/token/check?token=secret-value&page=2')
  expect(await requestOf(app, wrong)).toMatchObject({
    status: 422,
    path: '/public/api/v1/token/check',
    query: { token: '[redacted]', page: '2' },
  })
})

test('rejected requests of the endpoints that are compatible with Resend are recorded with the error they responded with', async () => {
  const app = await newApp()
  const answer = await callUrl('POST', `${app.url}/emails`, {
    headers: { authorization: `Bearer ${app.apiKey}` },
    body: { from: 'shop@acme.example', to: 'nobody', subject: 'Hello', attachments: [{ content: 'QUJD'.repeat(200) }] },
  })
  const request = await requestOf(app, answer)
  expect(request).toMatchObject({
    status: answer.status,
    path: '/emails',
    error_type: answer.body.name,
    error_message: answer.body.message,
  })
  expect(JSON.parse(request.body).attachments).toEqual([{ content: '[800 characters of base64]' }])
})

test('requests without a scope, above the rate limit and to the management API are recorded; those of users are not', async () => {
  await using app = await startTestApp({ RATE_LIMIT_PER_SECOND: '2' }, ['serve'])
  const headers = { 'x-api-token': app.apiKey }
  const forbidden = await app.call('GET', '/api/v1/organization/contacts', { headers })
  expect(await requestOf(app, forbidden)).toMatchObject({ status: 403, error_type: 'insufficient_scope' })
  const limited = await until('a request above the limit', async () => {
    const answer = await app.publicApi('GET', '/token/check')
    return answer.status === 429 ? answer : undefined
  })
  expect(await requestOf(app, limited)).toMatchObject({ status: 429, error_type: 'rate_limited', body: null })
  const paths = (await list(app)).map(({ path }) => path)
  expect(paths).toContain('/api/v1/organization/contacts')
  expect(paths.some((path) => path.includes('api-requests'))).toBe(false)
})

test('the list is filtered by key, status, method, path and request id, and read in pages', async () => {
  const app = await newApp()
  const first = await app.publicApi('GET', '/token/check')
  const second = await app.publicApi('POST', '/contacts/add-group-members', { group_id: 'grp_none', members: [] })
  const created = await create(app, '/api-keys', { name: 'Other', scopes: ['contacts:read'] })
  const headers = { 'x-api-token': created.api_key }
  const third = await app.call('GET', '/api/v1/organization/contacts', { headers })
  await requestOf(app, third)
  const ids = [third, second, first].map((answer) => answer.headers.get('x-request-id'))
  const found = async (query: string) => (await list(app, query)).map(({ request_id: id }) => ids.indexOf(id))
  expect(await found('')).toEqual([0, 1, 2])
  expect(await found(`api_key_id=${created.id}`)).toEqual([0])
  expect(await found('api_key_id=key_unknown')).toEqual([])
  expect(await found('status=4xx')).toEqual([1])
  expect(await found('status=2xx&method=GET')).toEqual([0, 2])
  expect(await found('path=token')).toEqual([2])
  expect(await found(`request_id=${ids[1]}`)).toEqual([1])
  const page = (await app.manage('GET', '/organization/api-requests?limit=2')).body
  expect(page.data).toHaveLength(2)
  expect(await found(`limit=2&cursor=${page.next_cursor}`)).toEqual([2])
})

test('another organization sees neither the list nor a request', async () => {
  const app = await newApp()
  const answer = await app.publicApi('GET', '/token/check')
  await requestOf(app, answer)
  const other = await registerOther(app)
  expect((await other.manage('GET', '/organization/api-requests')).body.data).toEqual([])
  const path = `/organization/api-requests/${answer.headers.get('x-request-id')}`
  expect((await other.manage('GET', path)).status).toBe(404)
  const byId = `/organization/api-requests?request_id=${answer.headers.get('x-request-id')}`
  expect((await other.manage('GET', byId)).body.data).toEqual([])
})

test('erasing a contact removes what mentions its address', async () => {
  const app = await newApp()
  const contact = await create(app, '/contacts', { email: 'Ada@Example.com' })
  const created = await create(app, '/api-keys', { name: 'k', scopes: ['contacts:write'] })
  const headers = { 'x-api-token': created.api_key }
  const inPath = await app.call('DELETE', '/api/v1/organization/suppressions/ada%40example.com', { headers })
  const mentioned = await app.publicApi('POST', '/contacts/add-group-members', {
    group_id: 'grp_none',
    members: [{ email: 'ADA@example.com', first_name: 'Ada' }],
  })
  const unrelated = await app.publicApi('POST', '/contacts/add-group-members', {
    group_id: 'grp_none',
    members: [{ email: 'bob@example.com' }],
  })
  expect((await requestOf(app, inPath)).path).toMatch(/ada@example\.com$/)
  expect((await requestOf(app, mentioned)).body).toMatch(/ADA@example\.com/)
  await requestOf(app, unrelated)
  expect((await app.manage('DELETE', `/organization/contacts/${contact.id}`)).status).toBe(200)
  expect((await requestOf(app, inPath)).path).toBe('/api/v1/organization/suppressions/:email')
  expect(await requestOf(app, mentioned)).toMatchObject({ body: null, error_message: null, status: 404 })
  expect((await requestOf(app, unrelated)).body).toMatch(/bob@example\.com/)
})

const openLog = (db: Db) => new ApiRequestLog({ db, failures: failureLog(pino({ level: 'silent' })) })

const rowOf = (key: { id: NewApiRequest['apiKeyId']; organizationId: NewApiRequest['organizationId'] }, at: number) =>
  ({
    organizationId: key.organizationId,
    apiKeyId: key.id,
    requestId: `req_${key.id}_${at}`,
    at: new Date(at),
    via: 'api',
    method: 'GET',
    route: '/x',
    path: '/x',
    status: 200,
    durationMs: 1,
    client: null,
    userAgent: null,
    errorType: null,
    errorMessage: null,
    errorFields: null,
    query: null,
    body: null,
    response: null,
    notSent: null,
  }) satisfies NewApiRequest

test('a key keeps a bounded number of requests: failing ones do not displace successful ones, nor those of other keys', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const organizationId = newId('org')
  const busy = { id: newId('key'), organizationId }
  const quiet = { id: newId('key'), organizationId }
  const now = Date.now()
  const countOf = async ({ id }: typeof busy) =>
    (
      await db<{ status: number; count: number }>`
        select status, count(*) from api_requests where organization_id = ${organizationId} and api_key_id = ${id}
        group by status order by status`
    ).map(({ status, count }) => [status, count])
  for (let round = 0; round < 3; round++) {
    const log = openLog(db)
    if (round === 0) log.add(rowOf(quiet, now))
    for (let at = 0; at < 300; at++) {
      log.add(rowOf(busy, now + round * 1_000 + at))
      log.add({ ...rowOf(busy, now + round * 1_000 + at), requestId: `req_${round}_${at}`, status: 422 })
    }
    await log.stop()
  }
  expect(await countOf(busy)).toEqual([
    [200, 500],
    [422, 500],
  ])
  expect(await countOf(quiet)).toEqual([[200, 1]])
  const [oldest] = await db<{ at: Date }>`
    select min(at) as at from api_requests where organization_id = ${organizationId} and api_key_id = ${busy.id}`
  expect(oldest!.at.getTime()).toBe(now + 1_000 + 100)
})

test('a flood is sampled: after a burst, few requests of a key and of an organization are kept per second', async () => {
  await using testDb = await createTestDb()
  const log = openLog(testDb.db)
  const organizationId = newId('org')
  const key = { id: newId('key'), organizationId }
  const kept = (status: number) => Array.from({ length: 10_000 }, () => log.keeps(key, status)).filter(Boolean).length
  // A burst, and what the bucket regained while this loop ran.
  expect(kept(200)).toBeLessThan(60)
  expect(kept(422)).toBeLessThan(60)
  const ofOthers = Array.from({ length: 10_000 }, () => log.keeps({ id: newId('key'), organizationId }, 200))
  expect(ofOthers.filter(Boolean).length).toBeLessThan(600)
  expect(log.keeps({ id: newId('key'), organizationId: newId('org') }, 200)).toBe(true)
})

test('while the database does not respond, requests are not held up, and the log stays small', async () => {
  await using app = await startTestApp({}, ['serve'])
  const path = '/public/api/v1/token/check'
  const headers = { 'x-api-token': app.apiKey }
  await app.db.begin(async (tx) => {
    await tx.script('lock table api_requests in access exclusive mode')
    for (let count = 0; count < 5; count++) expect((await app.call('GET', path, { headers })).status).toBe(200)
  })
  const log = openLog(app.db)
  const organizations = Array.from({ length: 3_000 }, () => newId('org'))
  const kept = organizations.filter((organizationId) => {
    const key = { id: newId('key'), organizationId }
    const isKept = log.keeps(key, 200)
    if (isKept) log.add(rowOf(key, Date.now()))
    return isKept
  })
  expect(kept).toHaveLength(1_000)
  await log.stop()
  expect(await app.db`select from api_requests where route = '/x'`).toHaveLength(1_000)
})

test('requests are deleted after 30 days', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const key = { id: newId('key'), organizationId: newId('org') }
  const log = openLog(db)
  const dayMs = 86_400_000
  log.add(rowOf(key, Date.now() - 31 * dayMs))
  log.add(rowOf(key, Date.now() - 29 * dayMs))
  await log.stop()
  await deleteExpiredApiRequests(db)
  expect(await db`select from api_requests`).toHaveLength(1)
})
