import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { create } from '../../../test/support/resources.ts'
import { type Answer, callUrl, startSharedApp, startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { openDb } from '../db/db.ts'

const newApp = await startSharedApp({}, ['serve'])

test('/health returns code 0 without a credential and without the database', async () => {
  await using app = await startTestApp()
  await app.db.pool.end()
  const answer = await app.call('GET', '/health')
  expect(answer.status).toBe(200)
  expect(answer.body).toEqual({ code: 0, status: 'success', message: 'ok', data: 'ok' })
  const ready = await app.call('GET', '/ready')
  expect(ready.status).toBe(503)
  expect(ready.headers.get('retry-after')).toBe('2')
  app.db.close = async () => {}
})

test('/ready returns 200 once the database is migrated', async () => {
  await using app = await startTestApp()
  expect((await app.call('GET', '/ready')).status).toBe(200)
  await app.db.statement`delete from schema_migrations where number = 1`
  expect((await app.call('GET', '/ready')).status).toBe(503)
})

test('a read-only database makes the service unavailable', async () => {
  await using app = await startTestApp({}, ['serve'], { openFor: ({ connection }) => openDb({ connection }) })
  const [row] = await app.db<{ name: string }>`select current_database() as name`
  // Committed before the connections are closed, so that each new one reads the setting.
  await app.db.statement.script(`alter database "${row!.name}" set default_transaction_read_only = on`)
  await app.db.statement.script(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${row!.name}' and pid <> pg_backend_pid()`,
  )
  expect((await app.call('GET', '/ready')).status).toBe(503)
  const refused = await app.manage('POST', '/organization/contacts', { email: 'ada@example.com' })
  expect([refused.status, refused.body.error.type]).toEqual([503, 'unavailable'])
  expect(refused.headers.get('retry-after')).not.toBeNull()
})

test('every invalid request gets the envelope, a type and a request id', async () => {
  const app = await newApp()
  const login = '/api/v1/auth/login'
  const json = { 'content-type': 'application/json' }
  const cases: [string, Promise<Answer>, number, string][] = [
    ['unknown path', app.call('GET', '/api/v1/nothing'), 404, 'not_found'],
    ['no page of the reference', app.call('GET', '/docs/nope'), 404, 'not_found'],
    ['wrong method', app.call('DELETE', login), 405, 'method_not_allowed'],
    ['no JSON', app.call('POST', login, { headers: json, raw: '{"email":' }), 400, 'invalid_json'],
    [
      'JSON that is not UTF-8',
      app.call('POST', login, {
        headers: json,
        raw: Buffer.from('{"email":"zo\xeb@acme.example","password":"x"}', 'latin1'),
      }),
      400,
      'invalid_json',
    ],
    ['empty body', app.call('POST', login, { headers: json, raw: '' }), 400, 'invalid_json'],
    [
      'prototype pollution',
      app.call('POST', login, { headers: json, raw: '{"__proto__":{"email":"a","password":"b"}}' }),
      422,
      'validation_failed',
    ],
    ['a path that is none', app.call('GET', '/public/api/v1/%zz'), 404, 'not_found'],
    [
      'a character that is no text',
      app.call('POST', login, { body: { email: 'a\0b', password: 'x' } }),
      422,
      'validation_failed',
    ],
    [
      'other media type',
      app.call('POST', login, { headers: { 'content-type': 'text/plain' }, raw: 'x' }),
      415,
      'unsupported_media_type',
    ],
    [
      'encoded body',
      app.call('POST', login, { headers: { ...json, 'content-encoding': 'gzip' }, raw: '{}' }),
      415,
      'unsupported_media_type',
    ],
    [
      'large body',
      app.call('POST', login, { headers: json, raw: `"${'x'.repeat(1024 * 1024)}"` }),
      413,
      'payload_too_large',
    ],
    ['wrong type', app.call('POST', login, { body: { email: 5, password: 'x' } }), 422, 'validation_failed'],
    ['no credential', app.call('GET', '/api/v1/me'), 401, 'unauthorized'],
  ]
  for (const [what, pending, status, type] of cases) {
    const answer = await pending
    expect([what, answer.status, answer.body?.error?.type]).toEqual([what, status, type])
    expect(answer.body).toMatchObject({ code: status, status: 'error', data: null })
    expect(answer.body.error.request_id).toBe(answer.headers.get('x-request-id'))
    expect(answer.body.message).toMatch(/\.$/)
  }
})

test('an internal error is a 500 without details', async () => {
  await using app = await startTestApp()
  await app.db.statement`alter table api_keys rename column hint to hint_gone`
  const answer = await app.manage('GET', '/organization/api-keys')
  expect(answer.status).toBe(500)
  expect(answer.body.error.type).toBe('internal')
  expect(answer.text).not.toContain('hint')
})

test('returns 429 with Retry-After for a key that exceeds its rate', async () => {
  await using app = await startTestApp({ RATE_LIMIT_PER_SECOND: '5' })
  // More than are allowed in the ten seconds that this may take on a busy machine.
  const answers = await Promise.all(Array.from({ length: 60 }, () => app.publicApi('GET', '/token/check')))
  const limited = answers.filter(({ status }) => status === 429)
  expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(5)
  expect(limited.length).toBeGreaterThan(0)
  expect(limited[0]!.body.error.type).toBe('rate_limited')
  expect(limited[0]!.headers.get('retry-after')).toBe('1')
})

test('behind a proxy, uses the client address added by the proxy', async () => {
  await using app = await startTestApp({ TRUST_PROXY: 'true' }, ['serve'])
  // The proxy appends the actual address to the header sent by the client.
  const guess = (address: string, n: number) =>
    app.call('POST', '/api/v1/auth/login', {
      headers: { 'x-forwarded-for': `10.1.2.${n}, ${address}` },
      body: { email: 'owner@acme.example', password: 'wrong' },
    })
  const statuses = []
  for (let n = 0; n < 11; n++) statuses.push((await guess('203.0.113.9', n)).status)
  expect(statuses).toEqual([...Array(10).fill(401), 429])
  expect((await guess('203.0.113.10', 0)).status).toBe(401)
})

test('without a proxy, ignores X-Forwarded-For', async () => {
  await using app = await startTestApp({}, ['serve'])
  const statuses = []
  for (let n = 0; n < 11; n++) {
    const headers = { 'x-forwarded-for': `10.1.2.${n}` }
    const body = { email: 'owner@acme.example', password: 'wrong' }
    statuses.push((await app.call('POST', '/api/v1/auth/login', { headers, body })).status)
  }
  expect(statuses.at(-1)).toBe(429)
})

test('responses have security headers, and HSTS if BASE_URL uses https', async () => {
  await using app = await startTestApp({ BASE_URL: 'https://mail.acme.example/waxwing' })
  const { headers } = await app.call('GET', '/health')
  expect(headers.get('strict-transport-security')).toContain('max-age=')
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('content-security-policy')).toContain("default-src 'none'")
  const page = await app.call('GET', '/')
  expect(page.headers.get('strict-transport-security')).toContain('max-age=')
  expect(page.headers.get('content-security-policy')).toContain("img-src 'self' data: https:;")
})

test('the message of several problems names the first and counts the others', async () => {
  await using app = await startTestApp()
  const messageOf = async (members: object[]) => {
    const { body: group } = await app.manage('POST', '/organization/groups', { name: `G${members.length}` })
    const body = { group_id: group.data.id, members }
    return (await app.publicApi('POST', '/contacts/add-group-members', body)).body.message
  }
  const wrong = { email: 'ada' }
  expect(await messageOf([wrong])).toBe('members.0.email: is not a valid email address.')
  expect(await messageOf([wrong, wrong])).toBe('members.0.email: is not a valid email address (and 1 more problem).')
  expect(await messageOf([wrong, wrong, wrong])).toMatch(/ \(and 2 more problems\)\.$/)
})

test('serves requests with and without the path of BASE_URL', async () => {
  await using app = await startTestApp({ BASE_URL: 'https://mail.acme.example/waxwing' })
  for (const path of ['/health', '/waxwing/health', '/waxwing/health?x=1'])
    expect((await callUrl('GET', `${app.url}${path}`)).status).toBe(200)
  expect((await app.call('GET', '/waxwinghealth')).text).not.toContain('"code":0')
})

test('the API reference loads nothing from other hosts', async () => {
  const app = await newApp()
  const page = await app.call('GET', '/docs/')
  expect(page.status).toBe(200)
  expect(page.headers.get('content-security-policy')).toContain("connect-src 'self'")
  for (const [, url] of page.text.matchAll(/(?:src|href)="([^"]+)"/g)) expect(url).not.toMatch(/^(https?:)?\/\//)
  const document = await app.call('GET', '/openapi.json')
  expect(document.body.openapi).toBe('3.1.0')
})

test('the OpenAPI document is written and compressed once, and can be cached', async () => {
  const app = await newApp()
  const get = (headers: Record<string, string>) => callUrl('GET', `${app.url}/openapi.json`, { headers })
  const plain = await get({ 'accept-encoding': 'identity' })
  const etag = plain.headers.get('etag')!
  expect(plain.headers.get('cache-control')).toBe('public, max-age=60')
  expect(plain.headers.get('content-encoding')).toBeNull()
  for (const encoding of ['gzip', 'br']) {
    const compressed = await get({ 'accept-encoding': encoding })
    expect([compressed.headers.get('content-encoding'), compressed.headers.get('etag')]).toEqual([encoding, etag])
    expect(compressed.headers.get('vary')).toBe('accept-encoding')
    expect(Number(compressed.headers.get('content-length'))).toBeLessThan(plain.text.length / 5)
    expect(compressed.text).toBe(plain.text)
  }
  const known = await get({ 'if-none-match': etag })
  expect([known.status, known.text]).toEqual([304, ''])
})

test('the API reference has no inline scripts, and its scripts are compressed and immutable', async () => {
  const app = await newApp()
  const page = await app.call('GET', '/docs/')
  expect(page.headers.get('content-security-policy')).toMatch(/script-src 'self';/)
  const scripts = [...page.text.matchAll(/<script([^>]*)>([^<]*)<\/script>/g)]
  const paths = scripts.map(([, attributes]) => /src="([^"]+)"/.exec(attributes!)?.[1])
  expect([paths.length, paths.includes(undefined), scripts.map(([, , inline]) => inline).join('')]).toEqual([
    2,
    false,
    '',
  ])
  for (const path of paths) {
    const get = (headers: Record<string, string>, url = `/docs/${path}`) => callUrl('GET', app.url + url, { headers })
    const [compressed, plain] = [
      await get({ 'accept-encoding': 'gzip, br' }),
      await get({ 'accept-encoding': 'br;q=0' }),
    ]
    expect([compressed.headers.get('content-encoding'), plain.headers.get('content-encoding')]).toEqual(['br', null])
    expect(compressed.text).toBe(plain.text)
    expect(compressed.headers.get('cache-control')).toContain('immutable')
    const etag = compressed.headers.get('etag')!
    expect((await get({ 'if-none-match': `W/"other", ${etag}` })).status).toBe(304)
    const unversioned = await get({}, `/docs/${path!.split('?', 1)[0]}`)
    expect([unversioned.status, unversioned.headers.get('cache-control')]).toEqual([200, 'no-cache'])
  }
})

test('the API reference lists the public API first, and all other tags after it', async () => {
  const app = await newApp()
  expect((await app.call('GET', '/docs/')).text).toContain('<title>Waxwing API</title>')
  const { tags, paths, webhooks } = (await app.call('GET', '/openapi.json')).body
  const names = tags.map(({ name }: { name: string }) => name)
  expect([names[0], names.at(-1)]).toEqual(['Public API', 'Health'])
  const operations = Object.values<Record<string, { tags: string[] }>>({ ...paths, ...webhooks }).flatMap(Object.values)
  const used = new Set(operations.flatMap((operation) => operation.tags))
  expect([...used].sort()).toEqual([...names].sort())
})

test('metrics are in Prometheus’ format', async () => {
  const app = await newApp()
  const answer = await app.call('GET', '/metrics')
  expect(answer.text).toContain('process_resident_memory_bytes')
})

test('a malformed request gets the envelope', async () => {
  const app = await newApp()
  const cases: [string, number][] = [
    ['hello\r\n\r\n', 400],
    [`GET / HTTP/1.1\r\nhost: x\r\nx-long: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ]
  for (const [text, status] of cases) {
    const answer = await exchange(app.url, text)
    expect(answer).toContain(`HTTP/1.1 ${status} `)
    const body = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))
    expect(body).toMatchObject({ code: status, status: 'error', data: null, error: { type: 'invalid_request' } })
    expect(answer).toContain(`x-request-id: ${body.error.request_id}`)
    expect(answer).toContain('x-content-type-options: nosniff')
  }
})

test('routes without a body accept any content type without a body', async () => {
  const app = await newApp()
  const headers = { 'content-type': 'application/json' }
  const make = async () =>
    (await create(app, '/webhooks', { name: 'a', url: 'http://127.0.0.1:9/', all_events: true })).id
  const session = { authorization: `Bearer ${app.session}`, ...headers }
  const path = `/api/v1/organization/webhooks/${await make()}`
  const rotated = await app.call('POST', `${path}/rotate-secret`, { headers: session, raw: '' })
  const deleted = await app.call('DELETE', path, { headers: session, raw: '' })
  expect([rotated.status, deleted.status]).toEqual([200, 200])
})

test('an empty query parameter counts as omitted', async () => {
  const app = await newApp()
  const webhook = { name: 'a', url: 'http://127.0.0.1:9/', all_events: true }
  const { id } = await create(app, '/webhooks', webhook)
  const days = 'start_date=2026-01-01&end_date=2026-01-01'
  for (const path of [
    `/webhooks/${id}/deliveries?status=&event_name=&cursor=&limit=`,
    '/messages?status=&flow_id=&contact_id=&query=',
    '/flows?status=&query',
    '/events?event_name=&machine=&flow_id=&contact_id=&after=',
    '/contacts?status=&group_id=&query=',
    '/suppressions?reason=&status=',
    `/overview?${days}&timezone=&flow_id=`,
    '/messages?status=&status=sent',
  ])
    expect([path, (await app.manage('GET', `/organization${path}`)).status]).toEqual([path, 200])
  const metric = '/analytics/metrics/get-email-event-metric'
  const counted = await app.publicApi('GET', `${metric}?event_name=emailOpen&${days}&timezone=&flow_id=`)
  expect([counted.status, counted.body.data.timezone]).toEqual([200, 'UTC'])
  const refused = await app.publicApi('GET', `${metric}?event_name=&${days}`)
  expect([refused.status, refused.body.error.fields[0].path]).toEqual([422, 'event_name'])
  expect(refused.body.error.fields[0].problem).toMatch(/^is required/)
})

test('returns 503 with Retry-After during shutdown', async () => {
  const app = await startTestApp({}, ['serve'])
  const socket = connect(Number(new URL(app.url).port), '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  const ended = new Promise((resolve) => socket.once('close', resolve))
  const read = serverReads(app)
  socket.write('GET /health HTTP/1.1\r\nhost: x\r\n')
  await read
  const stopped = app[Symbol.asyncDispose]()
  socket.write('\r\n')
  await stopped
  await ended
  const answer = Buffer.concat(chunks).toString()
  expect(answer).toContain('HTTP/1.1 503 ')
  expect(answer).toMatch(/retry-after: \d+/)
  expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({ error: { type: 'unavailable' } })
})

test('shutdown waits for the request in progress and closes its connection', async () => {
  const app = await startTestApp()
  const socket = connect(Number(new URL(app.url).port), '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  const ended = new Promise((resolve) => socket.once('close', resolve))
  const body = JSON.stringify({ email: 'owner@acme.example', password: 'correct horse battery' })
  const read = serverReads(app)
  socket.write(
    `POST /api/v1/auth/login HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`,
  )
  await read
  const stopped = app[Symbol.asyncDispose]()
  socket.write(body)
  await stopped
  await ended
  const answer = Buffer.concat(chunks).toString()
  expect(answer).toContain('HTTP/1.1 200 OK')
  expect(answer).toMatch(/^connection: close\r$/im)
})

/** Resolves when the server has read from the next connection. */
async function serverReads(app: TestApp): Promise<void> {
  const [socket] = (await once(app.app.server.server, 'connection')) as [Socket]
  await until('the server to read', () => socket.bytesRead > 0)
}

/** Sends the text on a new connection and returns the complete response. */
async function exchange(url: string, text: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk)).on('error', () => {})
  socket.write(text)
  await new Promise((resolve) => socket.once('close', resolve))
  return Buffer.concat(chunks).toString()
}
