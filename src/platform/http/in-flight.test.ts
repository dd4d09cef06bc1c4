import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { create } from '../../../test/support/resources.ts'
import { callUrl, startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'

const inFlightMax = 5

/** Sends a request whose body does not arrive. */
async function openRequest(
  { url }: TestApp,
  path: string,
  header: string,
): Promise<{ socket: Socket; text: () => string }> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {})
  let text = ''
  socket.setEncoding('utf8').on('data', (part) => {
    text += part
  })
  await once(socket, 'connect')
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: a\r\n${header}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{`,
  )
  return { socket, text: () => text }
}

test.each([
  ['key', '/public/api/v1/emails', ({ apiKey }: TestApp) => `x-api-token: ${apiKey}`],
  ['key of the management API', '/api/v1/organization/contacts', ({ apiKey }: TestApp) => `x-api-token: ${apiKey}`],
  ['user', '/api/v1/organization/contacts', ({ session }: TestApp) => `authorization: Bearer ${session}`],
])('a %s has a limited number of requests in progress', async (_, path, headerOf) => {
  await using app = await startTestApp({}, ['serve'], { tuning: { requestsInFlightPerCaller: inFlightMax } })
  const other = (await create(app, '/api-keys', { name: 'other', scopes: ['contacts:read', 'flows:send'] })).api_key
  const key = (await create(app, '/api-keys', { name: 'x', scopes: ['contacts:write', 'flows:send'] })).api_key
  const caller = { ...app, apiKey: key }
  const requests = await Promise.all(Array.from({ length: 12 }, () => openRequest(app, path, headerOf(caller))))
  const refused = () => requests.filter(({ text }) => text().startsWith('HTTP/1.1 429'))
  // Before their bodies arrive.
  await until('the excess to be refused', () => refused().length === 12 - inFlightMax)
  const check = (apiKey: string) =>
    app.call('GET', '/public/api/v1/token/check', { headers: { 'x-api-token': apiKey } })
  expect((await check(other)).status).toBe(200)

  const [open] = requests.filter(({ text }) => text() === '')
  open!.socket.destroy()
  const next = await until('a request to be accepted', async () => {
    const { socket, text } = await openRequest(app, path, headerOf(caller))
    socket.write(' '.repeat(99))
    await until('a response', () => text() !== '')
    socket.destroy()
    return text().startsWith('HTTP/1.1 400') && text()
  })
  expect(next).toContain('invalid_json')
  for (const { socket } of requests) socket.destroy()
})

test('a caller who repeats refused requests is disconnected', async () => {
  await using app = await startTestApp({ RATE_LIMIT_PER_SECOND: '1' }, ['serve'], {
    tuning: { requestsInFlightPerCaller: inFlightMax },
  })
  const answers: { status: number; connection: string | null }[] = []
  await until('a closed connection', async () => {
    const { status, headers } = await app.publicApi('GET', '/token/check')
    answers.push({ status, connection: headers.get('connection') })
    return answers.at(-1)!.connection === 'close'
  })
  expect(answers.at(-1)!.status).toBe(429)
  expect(answers.length).toBeGreaterThan(10)
})

test('requests that are answered, and calls of tools, make room for others', async () => {
  await using app = await startTestApp({}, ['serve'], { tuning: { requestsInFlightPerCaller: 2 } })
  const key = (await create(app, '/api-keys', { name: 'tools', scopes: ['contacts:read'] })).api_key
  const params = { name: 'list_groups', arguments: {} }
  for (let at = 0; at < 5; at++) {
    expect((await app.publicApi('GET', '/token/check')).status).toBe(200)
    const { status, text } = await callUrl('POST', `${app.url}/mcp`, {
      headers: { authorization: `Bearer ${key}`, accept: 'application/json, text/event-stream' },
      body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
    })
    expect([status, text.includes('"error"')]).toEqual([200, false])
  }
})
