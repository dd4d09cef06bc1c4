import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createFlow, send } from '../../../test/support/flows.ts'
import { create } from '../../../test/support/resources.ts'
import { startTestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { Refusal } from '../values/errors.ts'
import { createServer } from './server.ts'

/** CPU time of this process, which runs the service. Wall time depends on the load of the machine. */
async function cpuMsOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

test('reports only the first error of a large request, and all errors of an ordinary one', async () => {
  await using app = await startTestApp({}, ['serve'])
  const group = (await create(app, '/groups', { name: 'A' })).id
  const ordinary = await app.manage('POST', '/organization/api-keys', { name: '', scopes: ['x', 'y'] })
  expect(ordinary.body.error.fields.map(({ path }: { path: string }) => path)).toEqual(['name', 'scopes.0', 'scopes.1'])

  const many = (length: number) => Array.from({ length }, () => 0)
  const requests: [string, object][] = [
    ['/organization/api-keys', { name: 'x', scopes: many(60_000) }],
    ['/organization/webhooks', { name: 'x', url: 'https://a.example/', event_types: many(60_000) }],
    [`/organization/groups/${group}/members`, { contact_ids: many(60_000) }],
    ['/organization/contacts', { email: 'a@b.example', attributes: 1, first_name: many(400_000) }],
  ]
  for (const [path, body] of requests) {
    const cpuMs = await cpuMsOf(async () => {
      const { status, body: answer } = await app.manage('POST', path, body)
      expect([path, status]).toEqual([path, 422])
      expect(answer.error.fields).toHaveLength(1)
    })
    expect(cpuMs).toBeLessThan(2_000)
  }
  // Concurrently. Reporting every error took half a minute of CPU time.
  const [path, body] = requests[0]!
  const cpuMs = await cpuMsOf(() => Promise.all(Array.from({ length: 60 }, () => app.manage('POST', path, body))))
  expect(cpuMs).toBeLessThan(8_000)
})

test('each route limits the size of its body', async () => {
  await using app = await startTestApp({}, ['serve'])
  const login = (raw: string) =>
    app.call('POST', '/api/v1/auth/login', { headers: { 'content-type': 'application/json' }, raw })
  expect((await login('['.repeat(17 * 1024))).status).toBe(413)
  expect((await login('['.repeat(15 * 1024))).status).toBe(400)
  const key = await app.manage('POST', '/organization/api-keys', { name: 'x', more: 'x'.repeat(200_000) })
  expect(key.status).toBe(413)
  const flow = { name: 'Long', kind: 'transactional', subject: 'Hi', html: `<p>${'x'.repeat(400_000)}</p>` }
  expect((await app.manage('POST', '/organization/flows', flow)).status).toBe(201)
})

test('a body with more values than can be parsed in milliseconds is rejected', async () => {
  await using app = await startTestApp({}, ['serve'])
  const post = (more: string) =>
    app.call('POST', '/api/v1/organization/contacts', {
      headers: { authorization: `Bearer ${app.session}`, 'content-type': 'application/json' },
      raw: `{"email":"a@b.example","more":${more}}`,
    })
  const tooMany = `${'['.repeat(150_000)}${']'.repeat(150_000)}`
  const { status, body } = await post(tooMany)
  expect([status, body.error.type]).toEqual([413, 'payload_too_large'])
  // In a string, brackets and escaped quotes are only text.
  expect((await post(JSON.stringify(`${tooMany}\\"${tooMany}`))).status).toBe(201)
})

test('closes a connection whose request body does not arrive, whether or not a response was sent', async () => {
  const server = createServer({
    log: pino({ level: 'silent' }),
    baseUrl: () => 'http://localhost',
    trustProxy: false,
    bodyTimeoutMs: 200,
  })
  server.post('/form', async () => ({}))
  server.post('/upload', {
    config: { permission: 'public', bodyTimeoutMs: 60_000 },
    handler: async (request) => {
      await request.raw.toArray()
      return {}
    },
  })
  server.post('/slow-form', { config: { permission: 'public', bodyTimeoutMs: 400 }, handler: async () => ({}) })
  const reject = async () => {
    throw new Refusal('unauthorized', 'No credential.')
  }
  server.post('/unauthorized', {
    config: { permission: 'public', bodyTimeoutMs: 60_000 },
    onRequest: reject,
    handler: async () => ({}),
  })
  server.addContentTypeParser('text/csv', (_request, _body, done) => done(null))
  await server.listen({ port: 0, host: '127.0.0.1' })
  const { port } = server.server.address() as AddressInfo
  const open = async (path: string, type = 'application/json') => {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    socket.on('error', () => {})
    socket.resume()
    socket.write(`POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-type: ${type}\r\ncontent-length: 100\r\n\r\n{`)
    return socket
  }
  const upload = await open('/upload', 'text/csv')
  const paths = ['/form', '/slow-form', '/nothing', '/unauthorized']
  const closed = await Promise.all(paths.map((path) => open(path)))
  await Promise.all(closed.map((socket) => once(socket, 'close')))
  expect(upload.destroyed).toBe(false)
  upload.destroy()
  await server.close()
})

test('a connection that is reset while its body waits to be read is closed, and the service goes on', async () => {
  const server = createServer({
    log: pino({ level: 'silent' }),
    baseUrl: () => 'http://localhost',
    trustProxy: false,
    bodyTimeoutMs: 200,
  })
  let handled = 0
  server.addContentTypeParser('text/csv', (_request, _body, done) => done(null))
  server.post('/unread', () => {
    handled++
    return new Promise(() => {})
  })
  await server.listen({ port: 0, host: '127.0.0.1' })
  const { port } = server.server.address() as AddressInfo
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  const length = 4_000_000
  socket.write(`POST /unread HTTP/1.1\r\nhost: a\r\ncontent-type: text/csv\r\ncontent-length: ${length}\r\n\r\n`)
  socket.write('x'.repeat(length - 1))
  await until('the request', () => handled === 1)
  socket.resetAndDestroy()
  const connections = () => new Promise((resolve) => server.server.getConnections((_, count) => resolve(count)))
  await until('the connection to be closed', async () => (await connections()) === 0)
  await server.close()
})

test('closes connections above the limit', async () => {
  await using app = await startTestApp({}, ['serve'], { tuning: { httpConnectionsMax: 10 } })
  const port = Number(new URL(app.url).port)
  const sockets = Array.from({ length: 30 }, () => connect(port, '127.0.0.1').on('error', () => {}))
  await until('the excess to be closed', () => sockets.filter(({ closed }) => closed).length >= 20)
  for (const socket of sockets) socket.destroy()
})

test('limits the management API per user, and sign-in and pages per client address', async () => {
  await using app = await startTestApp({ TRUST_PROXY: 'true' }, ['serve'], {
    tuning: { sessionRequestsPerSecond: 1, signInRequestsPerMinute: 5, pageRequestsPerSecond: 1 },
  })
  const statuses = (calls: Promise<{ status: number; headers: Headers }>[]) =>
    Promise.all(calls.map(async (call) => (await call).status))
  const from = (address: string) => ({ 'x-forwarded-for': address })

  const manage = await statuses(Array.from({ length: 20 }, () => app.manage('GET', '/me')))
  expect(manage).toContain(429)
  const refused = await until('a refusal', async () => {
    const answer = await app.manage('GET', '/me')
    return answer.status === 429 ? answer : undefined
  })
  expect([refused.body.error.type, Number(refused.headers.get('retry-after')) >= 1]).toEqual(['rate_limited', true])

  const register = (address: string, n: number) =>
    app.call('POST', '/api/v1/auth/register', {
      headers: from(address),
      body: { organization_name: 'Flood', email: `flood${n}@example.com`, password: 'correct horse battery' },
    })
  // One network, many addresses.
  const flood = await statuses(Array.from({ length: 12 }, (_, n) => register(`2001:db8:1:2::${n + 1}`, n)))
  expect([flood.filter((status) => status === 201).length, flood.filter((status) => status === 429).length]).toEqual([
    5, 7,
  ])
  expect((await register('2001:db8:1:3::1', 99)).status).toBe(201)

  const page = await statuses(
    Array.from({ length: 20 }, () => app.call('GET', '/u/nothing', { headers: from('192.0.2.9') })),
  )
  expect(page).toContain(429)
  for (const [path, address] of [
    ['/docs', '192.0.2.11'],
    ['/docs/js/scalar.js', '192.0.2.12'],
    ['/openapi.json', '192.0.2.13'],
  ] as const) {
    const reference = await statuses(
      Array.from({ length: 20 }, () => app.call('GET', path, { headers: from(address) })),
    )
    expect([path, reference.includes(429)]).toEqual([path, true])
  }
  const pixels = await statuses(
    Array.from({ length: 30 }, () => app.call('GET', '/t/o/nothing', { headers: from('192.0.2.9') })),
  )
  expect(pixels).not.toContain(429)
})

test('the inbox shows the beginning of a huge email', async () => {
  await using app = await startTestApp()
  const flowId = await createFlow(app)
  await send(app, flowId)
  const [mail] = await until('the email', async () => {
    const { data } = (await app.manage('GET', '/organization/inbox')).body
    return data.length > 0 && data
  })
  expect((await app.manage('GET', `/organization/inbox/${mail.id}`)).body.data.truncated).toBe(false)
  const raw = Buffer.from(`Subject: x\r\n\r\n${'a\n'.repeat(2_000_000)}`)
  await app.db.statement`update inbox set raw = ${raw}`
  const cpuMs = await cpuMsOf(async () => {
    const { data } = (await app.manage('GET', `/organization/inbox/${mail.id}`)).body
    expect(data.truncated).toBe(true)
    expect(data.raw.length).toBeLessThanOrEqual(256 * 1024)
  })
  // Rendering all of it took 26 seconds.
  expect(cpuMs).toBeLessThan(3_000)
})
