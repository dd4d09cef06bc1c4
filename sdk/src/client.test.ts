import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { Waxwing, type WaxwingOptions } from './client.ts'
import { WaxwingError } from './errors.ts'

type Answer = { status: number; body?: unknown; headers?: Record<string, string> } | 'hang' | 'cut'
type Seen = { method: string; path: string; headers: IncomingMessage['headers']; body: unknown }

/** A real server that returns the responses in turn, and repeats the last one. */
async function startApi(...answers: Answer[]) {
  const seen: Seen[] = []
  const server = createServer(async (request, response) => {
    const body = await text(request)
    const { method = '', url: path = '', headers } = request
    seen.push({ method, path, headers, body: body && JSON.parse(body) })
    const answer = answers[Math.min(seen.length, answers.length) - 1]!
    if (answer === 'hang') return
    if (answer === 'cut') return void request.socket.destroy()
    response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers })
    response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body))
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    seen,
    client: (options: Partial<WaxwingOptions> = {}) =>
      new Waxwing({ apiKey: 'wxk_test', baseUrl, retryDelayMs: 1, ...options }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}

const success = (data: unknown): Answer => ({
  status: 200,
  body: { code: 200, status: 'success', message: 'OK', data },
})
const failure = (status: number, type: string, headers?: Record<string, string>): Answer => ({
  status,
  body: {
    code: status,
    status: 'error',
    message: 'One sentence.',
    data: null,
    error: { type, fields: [{ path: 'members.3.email', problem: 'is no address' }], request_id: 'req_1' },
  },
  ...(headers && { headers }),
})
const accepted = {
  message_id: 'msg_1',
  flow_id: 'flw_1',
  contact_id: 'con_1',
  contact_email: 'ada@example.com',
  contact_created: false,
  status: 'queued',
  reason: null,
  queued_at: '2026-01-01T00:00:00.000Z',
  warnings: [],
}
const email = { flowId: 'flw_1', contactEmail: 'ada@example.com', context: { order_id: 7 } }

async function errorOf(call: Promise<unknown>): Promise<WaxwingError> {
  const error = await call.catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(WaxwingError)
  return error as WaxwingError
}

test('checkToken sends the key and returns the organization', async () => {
  await using api = await startApi(
    success({ organization_id: 'org_1', organization_name: 'Acme', scopes: ['flows:send'] }),
  )

  expect(await api.client().checkToken()).toEqual({
    organizationId: 'org_1',
    organizationName: 'Acme',
    scopes: ['flows:send'],
  })
  expect(api.seen[0]).toMatchObject({ method: 'GET', path: '/public/api/v1/token/check' })
  expect(api.seen[0]!.headers['x-api-token']).toBe('wxk_test')
})

test('addGroupMembers sends the members with the field names of the API', async () => {
  const rejected = [{ index: 1, email: 'x', problem: 'is no address' }]
  await using api = await startApi(
    success({ group_id: 'grp_1', received: 2, created: 1, updated: 0, added: 1, already_members: 0, rejected }),
  )

  const added = await api.client().addGroupMembers({
    groupId: 'grp_1',
    members: [
      { email: 'ada@example.com', firstName: 'Ada', lastName: null, attributes: { plan_name: 'pro' } },
      { email: 'x' },
    ],
  })

  expect(added).toMatchObject({ groupId: 'grp_1', alreadyMembers: 0, rejected })
  expect(api.seen[0]).toMatchObject({
    method: 'POST',
    path: '/public/api/v1/contacts/add-group-members',
    body: {
      group_id: 'grp_1',
      members: [
        { email: 'ada@example.com', first_name: 'Ada', last_name: null, attributes: { plan_name: 'pro' } },
        { email: 'x' },
      ],
    },
  })
  expect(api.seen[0]!.headers['content-type']).toBe('application/json')
})

test('sendEmailThroughFlow sends the idempotency key it was given', async () => {
  await using api = await startApi(success(accepted))

  const answer = await api.client().sendEmailThroughFlow(email, { idempotencyKey: 'order-7' })

  expect(answer).toMatchObject({ messageId: 'msg_1', contactCreated: false, status: 'queued' })
  expect(api.seen[0]!.headers['idempotency-key']).toBe('order-7')
  expect(api.seen[0]!.body).toEqual({
    flow_id: 'flw_1',
    contact_email: 'ada@example.com',
    context: { order_id: 7 },
  })
})

test.each(['', 'zamówienie-7', 'złoty', 'order 7', 'order\n7', 'x'.repeat(256)])(
  'the idempotency key %j, which the API does not take, is refused before anything is sent',
  async (idempotencyKey) => {
    await using api = await startApi(success(accepted))

    const error = await errorOf(api.client().sendEmailThroughFlow(email, { idempotencyKey }))

    expect(error).toMatchObject({ type: 'invalid_idempotency_key', status: undefined })
    expect(error.message).toContain('1 to 255 visible ASCII characters')
    expect(api.seen).toEqual([])
  },
)

test('an idempotency key of 255 visible characters is sent', async () => {
  await using api = await startApi(success(accepted))
  const idempotencyKey = `${'!~'.repeat(127)}7`

  await api.client().sendEmailThroughFlow(email, { idempotencyKey })

  expect(api.seen[0]!.headers['idempotency-key']).toBe(idempotencyKey)
})

test('getEmailEventMetric sends the range and omits undefined parameters', async () => {
  const day = { date: '2026-01-01', total: 3, unique: 2, machine: 1 }
  await using api = await startApi(success({ event_name: 'emailOpen', total: 3, unique: 2, machine: 1, series: [day] }))

  const metric = await api
    .client()
    .getEmailEventMetric({ eventName: 'emailOpen', startDate: '2026-01-01', endDate: '2026-01-31' })

  expect(metric).toMatchObject({ eventName: 'emailOpen', total: 3, series: [day] })
  expect(api.seen[0]!.path).toBe(
    '/public/api/v1/analytics/metrics/get-email-event-metric?event_name=emailOpen&start_date=2026-01-01&end_date=2026-01-31',
  )
})

test('a rejection becomes an error with status, type, fields and request id, and is not retried', async () => {
  await using api = await startApi(failure(422, 'validation_failed'))

  const error = await errorOf(api.client().checkToken())

  expect(error).toMatchObject({
    message: 'One sentence.',
    status: 422,
    type: 'validation_failed',
    fields: [{ path: 'members.3.email', problem: 'is no address' }],
    requestId: 'req_1',
  })
  expect(api.seen).toHaveLength(1)
})

test.each([
  ['too many requests', failure(429, 'rate_limited', { 'retry-after': '0' })],
  ['an unavailable server', { status: 503, body: 'upstream down' }],
  ['a proxy that does not reach the server', { status: 502, body: '<html>Bad gateway</html>' }],
  ['a proxy that times out waiting for the server', { status: 504, body: { error: 'Gateway timeout' } }],
  ['a connection that breaks', 'cut'],
] satisfies [string, Answer][])('after %s a send is tried again with the same generated key', async (_, answer) => {
  await using api = await startApi(answer, answer, success(accepted))

  expect(await api.client().sendEmailThroughFlow(email)).toMatchObject({ messageId: 'msg_1' })

  const keys = api.seen.map(({ headers }) => headers['idempotency-key'])
  expect(keys).toHaveLength(3)
  expect(new Set(keys).size).toBe(1)
  expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/)
})

test('two sends without a key get different keys', async () => {
  await using api = await startApi(success(accepted))
  const client = api.client()

  await client.sendEmailThroughFlow(email)
  await client.sendEmailThroughFlow(email)

  const [first, second] = api.seen.map(({ headers }) => headers['idempotency-key'])
  expect(first).not.toBe(second)
})

test('stops after the configured number of retries, with the last error', async () => {
  await using api = await startApi(failure(503, 'unavailable'))

  const error = await errorOf(api.client({ retries: 1 }).checkToken())

  expect(error).toMatchObject({ status: 503, type: 'unavailable' })
  expect(api.seen).toHaveLength(2)
})

test('does not wait if Retry-After exceeds the maximum pause', async () => {
  await using api = await startApi(failure(429, 'rate_limited', { 'retry-after': '3600' }))

  const error = await errorOf(api.client().checkToken())

  expect(error.retryAfterSeconds).toBe(3600)
  expect(api.seen).toHaveLength(1)
})

test('accepts a Retry-After date', async () => {
  const inAnHour = new Date(Date.now() + 3_600_000).toUTCString()
  await using api = await startApi(failure(503, 'unavailable', { 'retry-after': inAnHour }))

  const error = await errorOf(api.client().checkToken())

  expect(error.retryAfterSeconds).toBeGreaterThan(3500)
})

test('a response that takes too long is a timeout', async () => {
  await using api = await startApi('hang')

  const error = await errorOf(api.client({ timeoutMs: 50, retries: 0 }).checkToken())

  expect(error).toMatchObject({ type: 'timeout', status: undefined, message: 'No response within 0.05 seconds.' })
})

test('does not follow redirects, so that the key is not sent elsewhere', async () => {
  await using api = await startApi({ status: 302, headers: { location: '/elsewhere' } }, success({}))

  const error = await errorOf(api.client().checkToken())

  expect(error).toMatchObject({ type: 'unexpected_answer', status: 302 })
  expect(api.seen).toHaveLength(1)
})

test('a response that is not from Waxwing is an unexpected response', async () => {
  await using api = await startApi({ status: 200, body: '<html>hello</html>' })

  expect(await errorOf(api.client().checkToken())).toMatchObject({ type: 'unexpected_answer', status: 200 })
})

test.each([
  { error: 'Bad gateway' },
  { error: { code: 7 } },
  { error: ['internal'] },
  { error: { type: 'internal' }, message: { text: 'no' } },
  { data: null },
  null,
  'nonsense',
])('a failure that says %j is an unexpected answer, and its message names the status', async (body) => {
  await using api = await startApi({ status: 418, body: JSON.stringify(body) })

  const error = await errorOf(api.client().checkToken())

  expect(error).toMatchObject({ type: 'unexpected_answer', status: 418, fields: [] })
  expect(error.message).toContain('418')
})

test('rejects a client without a key or with an invalid base URL', () => {
  expect(() => new Waxwing({ apiKey: '', baseUrl: 'https://example.com' })).toThrow('apiKey')
  expect(() => new Waxwing({ apiKey: 'wxk_…', baseUrl: 'https://example.com' })).toThrow('apiKey')
  expect(() => new Waxwing({ apiKey: 'wxk_test', baseUrl: 'example.com' })).toThrow('baseUrl')
})

test('accepts a base URL with a trailing slash and a custom fetch', async () => {
  const asked: string[] = []
  const client = new Waxwing({
    apiKey: 'wxk_test',
    baseUrl: 'https://example.com/',
    fetch: async (url) => {
      asked.push(String(url))
      return Response.json({ data: {} })
    },
  })

  await client.checkToken()

  expect(asked).toEqual(['https://example.com/public/api/v1/token/check'])
})
