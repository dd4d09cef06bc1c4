import { expect, test } from 'vitest'
import { createFlow, send } from '../../../test/support/flows.ts'
import { callUrl, startTestApp } from '../../../test/support/test-app.ts'

const problemType = 'application/problem+json'

test('rate limits are in the headers of every limited response, also of a rejected one', async () => {
  await using app = await startTestApp({ RATE_LIMIT_PER_SECOND: '2' }, ['serve', 'work'], {
    tuning: { sessionRequestsPerSecond: 100, signInRequestsPerMinute: 60 },
  })
  const check = () => app.publicApi('GET', '/token/check')
  const first = await check()
  expect([first.status, first.headers.get('ratelimit-policy'), first.headers.get('ratelimit')]).toEqual([
    200,
    '"api-key";q=2;w=1',
    '"api-key";r=1;t=1',
  ])
  // More than are allowed in the ten seconds that this may take on a busy machine.
  const answers = await Promise.all(Array.from({ length: 25 }, check))
  const rejected = answers.find(({ status }) => status === 429)!
  expect(rejected.headers.get('ratelimit')).toBe('"api-key";r=0;t=1')
  expect(rejected.headers.get('retry-after')).toBe('1')

  const session = await app.manage('GET', '/me')
  expect(session.headers.get('ratelimit-policy')).toBe('"user";q=1000;w=10')
  expect(session.headers.get('ratelimit')).toMatch(/^"user";r=99\d;t=1$/)
  const state = await app.call('GET', '/api/v1/auth/state')
  expect(state.headers.get('ratelimit-policy')).toBe('"address";q=60;w=60')
  const unlimited = await app.call('GET', '/health')
  expect(unlimited.headers.get('ratelimit')).toBeNull()
})

test('no headers announce a limit that does not exist', async () => {
  await using app = await startTestApp({ RATE_LIMIT_PER_SECOND: '0' })
  const { headers } = await app.publicApi('GET', '/token/check')
  expect([headers.get('ratelimit'), headers.get('ratelimit-policy')]).toEqual([null, null])
})

test('errors are Problem Details if the client accepts them, and the envelope otherwise', async () => {
  await using app = await startTestApp()
  const get = (accept: string, path = '/public/api/v1/token/check') =>
    callUrl('GET', `${app.url}${path}`, { headers: { accept } })
  const typeOf = async (accept: string) => (await get(accept)).headers.get('content-type')?.split(';', 1)[0]
  for (const accept of ['*/*', 'application/json', `application/json, ${problemType};q=0`])
    expect([accept, await typeOf(accept)]).toEqual([accept, 'application/json'])
  for (const accept of [problemType, `application/json, ${problemType}`, `${problemType};q=0.5, */*`])
    expect([accept, await typeOf(accept)]).toEqual([accept, problemType])

  const { status, body, headers } = await get(problemType)
  expect(status).toBe(401)
  expect(body).toEqual({
    type: 'urn:waxwing:error:unauthorized',
    title: 'Unauthorized',
    status: 401,
    detail: 'The API key is missing or invalid. Send it in the X-Api-Token header.',
    instance: `urn:waxwing:request:${headers.get('x-request-id')}`,
    error: { type: 'unauthorized', fields: [], request_id: headers.get('x-request-id') },
  })
  const invalid = await callUrl('POST', `${app.url}/api/v1/auth/login`, { headers: { accept: problemType }, body: {} })
  expect(invalid.body).toMatchObject({
    type: 'urn:waxwing:error:validation_failed',
    status: 422,
    error: { fields: [{ path: 'email', problem: 'is required' }, { path: 'password' }] },
  })
  expect((await get(problemType, '/api/v1/nothing')).body).toMatchObject({
    type: 'urn:waxwing:error:not_found',
    status: 404,
  })
  const success = await get(problemType, '/health')
  expect(success.headers.get('content-type')).toContain('application/json')
})

test('a page links to the next one, with the same filters', async () => {
  await using app = await startTestApp({ BASE_URL: 'https://mail.example.com/waxwing' })
  for (const name of ['ada', 'alan', 'grace'])
    await app.manage('POST', '/organization/contacts', { email: `${name}@example.com` })
  const first = await app.manage('GET', '/organization/contacts?limit=2&status=subscribed')
  const link = /^<(.*)>; rel="next"$/.exec(first.headers.get('link')!)![1]!
  const url = new URL(link)
  expect(url.origin + url.pathname).toBe('https://mail.example.com/waxwing/api/v1/organization/contacts')
  expect(Object.fromEntries(url.searchParams)).toEqual({
    limit: '2',
    status: 'subscribed',
    cursor: first.body.next_cursor,
  })
  const second = await app.manage('GET', `/organization/contacts${url.search}`)
  expect(second.body.data.map(({ email }: { email: string }) => email)).toEqual(['ada@example.com'])
  expect(second.headers.get('link')).toBeNull()
})

test('an idempotency key is the same key with and without quotes', async () => {
  await using app = await startTestApp()
  const flowId = await createFlow(app)
  const withKey = (key: string) => send(app, flowId, {}, { 'idempotency-key': key })
  const first = await withKey('order-1042')
  const again = await withKey('"order-1042"')
  expect(again.headers.get('idempotent-replayed')).toBe('true')
  expect(again.body.data.message_id).toBe(first.body.data.message_id)
  const escaped = await withKey('"a\\"b\\\\c"')
  expect((await withKey('a"b\\c')).body.data.message_id).toBe(escaped.body.data.message_id)
  expect((await withKey('""')).body.error.type).toBe('invalid_idempotency_key')
  expect((await withKey('"two words"')).body.error.type).toBe('invalid_idempotency_key')
})

test('robots.txt keeps search engines away from all paths', async () => {
  await using app = await startTestApp({}, ['serve'])
  const { status, headers, text } = await app.call('GET', '/robots.txt')
  expect([status, headers.get('content-type'), text]).toEqual([
    200,
    'text/plain; charset=utf-8',
    'User-agent: *\nDisallow: /\n',
  ])
})

test('the public API accepts an API key as a bearer token', async () => {
  await using app = await startTestApp({}, ['serve'])
  const check = async (headers: Record<string, string>) =>
    (await app.call('GET', '/public/api/v1/token/check', { headers })).status
  expect(await check({ authorization: `Bearer ${app.apiKey}` })).toBe(200)
  expect(await check({ authorization: `bearer ${app.apiKey}` })).toBe(200)
  // A session is no API key, and the header for API keys takes precedence.
  expect(await check({ authorization: `Bearer ${app.session}` })).toBe(401)
  expect(await check({ authorization: `Bearer ${app.apiKey}`, 'x-api-token': `wxk_${'x'.repeat(40)}` })).toBe(401)
  expect(await check({ authorization: `Bearer ${app.session}`, 'x-api-token': app.apiKey })).toBe(200)
})

test('a method that a path does not have is rejected with those it has, whatever the body is', async () => {
  await using app = await startTestApp({}, ['serve'])
  const organization = '/api/v1/organization'
  const headers = { 'content-type': 'text/plain', authorization: `Bearer ${app.session}` }
  const allowed: [string, string, string][] = [
    ['PUT', '/health', 'GET, HEAD'],
    ['PUT', `${organization}/flows/preview`, 'POST'],
    ['PUT', `${organization}/suppressions/list`, 'POST'],
    ['PUT', `${organization}/webhooks/retry-schedules`, 'GET, HEAD'],
    ['PUT', `${organization}/webhooks/whk_1`, 'DELETE, GET, HEAD, PATCH'],
    ['PUT', '/public/api/v1/flow/send-email-through-flow', 'POST'],
  ]
  for (const [method, path, allow] of allowed) {
    const answer = await app.call(method, path, { headers, raw: 'text' })
    expect([path, answer.status, answer.headers.get('allow')]).toEqual([path, 405, allow])
  }
})

test('security.txt names the contact of the operator, if there is one', async () => {
  await using without = await startTestApp()
  expect((await without.call('GET', '/.well-known/security.txt')).status).toBe(404)
  await using app = await startTestApp({
    SECURITY_CONTACT: 'security@acme.example',
    BASE_URL: 'https://mail.example.com',
  })
  const { status, headers, text } = await app.call('GET', '/.well-known/security.txt')
  expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
  const fields = Object.fromEntries(
    text
      .trim()
      .split('\n')
      .map((line) => line.split(/: (.*)/) as [string, string]),
  )
  expect(fields).toMatchObject({
    Contact: 'mailto:security@acme.example',
    Canonical: 'https://mail.example.com/.well-known/security.txt',
    'Preferred-Languages': 'en',
  })
  const days = (Date.parse(fields.Expires!) - Date.now()) / 86_400_000
  expect(days).toBeGreaterThan(178)
  expect(days).toBeLessThan(181)
})
