import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, expectTypeOf, test } from 'vitest'
import { type ApiDocument, isFile } from '../../src/platform/http/types.ts'
import { startTestApp, type TestApp } from '../../test/support/test-app.ts'
import { Waxwing } from './client.ts'
import { WaxwingError } from './errors.ts'
import { WaxwingManagement } from './generated/management-client.ts'
import type { Data, Item } from './operation-types.ts'

let app: TestApp
let waxwing: WaxwingManagement
beforeAll(async () => {
  app = await startTestApp()
  waxwing = new WaxwingManagement({ baseUrl: app.url, token: app.session })
})
afterAll(() => app[Symbol.asyncDispose]())

const openapi: ApiDocument = JSON.parse(readFileSync('docs/openapi.json', 'utf8'))
const operations = Object.values(openapi.paths).flatMap((path) => Object.values(path))

/** Called as `waxwing.events.list`, `waxwing.emails.send` and `waxwing.emails.batch`. */
const grouped = ['readEvents', 'sendEmail', 'sendEmails', 'getEmail', 'rescheduleEmail', 'cancelEmailForAll']

test('has a method for every operation of the API', () => {
  const methods = [WaxwingManagement, Waxwing].flatMap((client) => Object.getOwnPropertyNames(client.prototype))
  const isForOthers = (tags: string[] = []) => tags.includes('Providers') || tags.includes('Documentation')
  const called = operations
    .filter((operation) => !isForOthers(operation.tags) && !isFile(operation))
    .map(({ operationId }) => operationId)
  expect(called.length).toBeGreaterThan(70)
  expect(called.filter((name) => ![...methods, ...grouped].includes(name))).toEqual([])
})

test('signs in, and creates, reads, updates and deletes', async () => {
  const { token } = await new WaxwingManagement({ baseUrl: app.url }).login({
    email: 'owner@acme.example',
    password: 'correct horse battery',
  })
  const client = new WaxwingManagement({ baseUrl: `${app.url}/`, token: async () => token })
  const created = await client.createFlow({ name: 'Welcome', kind: 'transactional', subject: 'Hi', html: '<p>Hi</p>' })
  expectTypeOf(created).toEqualTypeOf<Data<'createFlow'>>()
  expect((await client.updateFlow(created.id, { subject: 'Hello' })).subject).toBe('Hello')
  expect((await client.getFlow(created.id)).name).toBe('Welcome')
  const page = await client.listFlows({ limit: 1, query: 'Wel' })
  expect(page.data.map(({ id }) => id)).toEqual([created.id])
  expect(await client.deleteFlow(created.id)).toBeNull()
})

test('accepts an API key with the scopes of the operation as its token', async () => {
  const { api_key: token } = await waxwing.createApiKey({ name: 'Reader', scopes: ['flows:read'] })
  const reader = new WaxwingManagement({ baseUrl: app.url, token })
  expect((await reader.listFlows()).data).toEqual([])
  expect(await errorOf(Promise.resolve(reader.listContacts()))).toMatchObject({
    type: 'insufficient_scope',
    status: 403,
  })
})

test('iterates over all pages of a list, and fetches them only when needed', async () => {
  const emails = Array.from({ length: 5 }, (_, at) => `person${at}@example.com`)
  for (const email of emails) await waxwing.createContact({ email })
  const seen: Item<'listContacts'>[] = []
  for await (const contact of waxwing.listContacts({ limit: 2 })) seen.push(contact)
  expect(seen.map(({ email }) => email).sort()).toEqual(emails)

  const sizes: number[] = []
  for await (const page of waxwing.listContacts({ limit: 2 }).pages()) {
    sizes.push(page.data.length)
    if (sizes.length === 2) break
  }
  expect(sizes).toEqual([2, 2])
})

test('uploads a CSV file and follows the import', async () => {
  const inspected = await waxwing.inspectImportFile('email,first_name\nada@example.com,Ada\n')
  expect(inspected.columns.map(({ name }) => name)).toEqual(['email', 'first_name'])
  const started = await waxwing.importContacts('email,first_name\nada@example.com,Ada\n', { filename: 'people.csv' })
  expect((await waxwing.getImport(started.id)).filename).toBe('people.csv')
})

test('errors carry type, status, fields and request id', async () => {
  const missing = await errorOf(waxwing.getFlow('flw_unknown'))
  expect(missing).toMatchObject({ type: 'not_found', status: 404, requestId: expect.stringMatching(/^req_/) })
  const invalid = await errorOf(waxwing.createGroup({ name: '' }))
  expect(invalid).toMatchObject({ type: 'validation_failed', status: 422, fields: [{ path: 'name' }] })
  const anonymous = await errorOf(new WaxwingManagement({ baseUrl: app.url }).listSegments())
  expect(anonymous).toMatchObject({ type: 'unauthorized', status: undefined })
})

test('a path parameter cannot address another operation', async () => {
  const { id } = await waxwing.createGroup({ name: 'Customers' })
  expect((await errorOf(waxwing.deleteContact(`../groups/${id}`))).status).toBe(404)
  expect((await waxwing.getGroup(id)).name).toBe('Customers')
})

test('a create is retried only if the server did not process it, a read after any passing failure', async () => {
  await using busy = await startBusyServer([503, 200])
  const client = new WaxwingManagement({ baseUrl: busy.url, token: 'token', retryDelayMs: 1 })
  expect((await errorOf(client.createGroup({ name: 'A' }))).status).toBe(503)
  expect(busy.requests).toEqual(['POST'])
  await using limited = await startBusyServer([429, 200])
  await new WaxwingManagement({ baseUrl: limited.url, token: 'token', retryDelayMs: 1 }).createGroup({ name: 'A' })
  expect(limited.requests).toEqual(['POST', 'POST'])
  await using reading = await startBusyServer([503, 502, 200])
  await new WaxwingManagement({ baseUrl: reading.url, token: 'token', retryDelayMs: 1 }).listSegments()
  expect(reading.requests).toEqual(['GET', 'GET', 'GET'])
})

test('a signal cancels a call, also during the pause before a retry', async () => {
  await using busy = await startBusyServer([503, 200])
  const client = new WaxwingManagement({ baseUrl: busy.url, token: 'token', retryDelayMs: 60_000 })
  const stop = new AbortController()
  const call = client.listSegments({ signal: stop.signal })
  await busy.answered
  stop.abort(new Error('Not needed any more'))
  await expect(call).rejects.toThrow('Not needed any more')
  await expect(client.listSegments({ signal: stop.signal })).rejects.toThrow('Not needed any more')
  expect(busy.requests).toEqual(['GET'])
})

async function errorOf(call: Promise<unknown>): Promise<WaxwingError> {
  const error = await call.catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(WaxwingError)
  return error as WaxwingError
}

/** A server that answers with the statuses in turn. */
async function startBusyServer(statuses: number[]) {
  const requests: string[] = []
  let onAnswered = () => {}
  const answered = new Promise<void>((resolve) => {
    onAnswered = resolve
  })
  const server = createServer(async (request, response) => {
    await text(request)
    const status = statuses[requests.push(request.method ?? '') - 1] ?? 500
    response.writeHead(status, { 'content-type': 'application/json' })
    const body = status === 200 ? { status: 'success', data: [] } : { message: 'Busy', error: { type: 'unavailable' } }
    response.end(JSON.stringify(body), onAnswered)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    requests,
    answered,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}
