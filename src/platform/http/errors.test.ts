import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { callUrl } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { openDb } from '../db/db.ts'
import { createServer } from './server.ts'

type Line = { level: number; msg: string; reason?: string; requests?: number }

/** Starts a server without a reachable database and collects its log. */
async function startServer() {
  const logged: Line[] = []
  const log = pino({}, { write: (line) => logged.push(JSON.parse(line)) })
  const server = createServer({ log, baseUrl: () => 'http://localhost', trustProxy: false })
  const db = openDb({ connection: { host: '/nowhere', port: 5432, user: 'nobody', database: 'none' } })
  let received = 0
  let cutOff = 0
  server.addHook('onRequest', async ({ raw }) => {
    received++
    raw.once('error', () => cutOff++)
  })
  server.post('/json', async () => ({}))
  server.get('/database', async () => db`select 1`)
  await server.register(async (api) => {
    api.addContentTypeParser('text/csv', (_request, content, done) => done(null, content))
    api.post('/stream', async ({ body }) => {
      for await (const _part of body as AsyncIterable<Buffer>);
      return {}
    })
  })
  await server.listen({ port: 0, host: '127.0.0.1' })
  const { port } = server.server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    received: () => received,
    cutOff: () => cutOff,
    warnings: () => logged.filter(({ level }) => level > 30),
    [Symbol.asyncDispose]: async () => {
      await server.close()
      await db.close()
    },
  }
}

test.each([
  ['/json', 'application/json'],
  ['/stream', 'text/csv'],
])('who hangs up during the body of %s writes no warning', async (path, type) => {
  await using server = await startServer()
  const headers = { 'content-type': type, 'content-length': '1000' }
  const sent = request(`${server.url}${path}`, { method: 'POST', headers })
  sent.on('error', () => {})
  sent.write('{')
  await until('the request to arrive', () => server.received() === 1)
  sent.destroy()
  await until('the body to be cut off', () => server.cutOff() === 1)
  expect((await callUrl('POST', `${server.url}/json`, { body: {} })).status).toBe(200)
  expect(server.warnings()).toEqual([])
})

test('logs requests that fail during a database outage together, without a stack trace for each', async () => {
  await using server = await startServer()
  const ask = () => callUrl('GET', `${server.url}/database`)
  const answers = await Promise.all(Array.from({ length: 20 }, ask))
  for (const { status, body } of answers) expect([status, body.error.type]).toEqual([503, 'unavailable'])
  const [first, ...others] = server.warnings()
  expect(first).toMatchObject({ msg: 'Requests could not be served', requests: 1 })
  expect(first!.reason).toContain('connect ENOENT')
  expect(others.length).toBeLessThan(5)
  await until('a line that counts the others', async () => {
    await ask()
    const counted = server.warnings().reduce((sum, { requests = 0 }) => sum + requests, 0)
    return counted > 20
  })
})
