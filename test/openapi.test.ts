import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { exceptionalRoutes } from '../src/reference/operation-ids.ts'
import { startTestApp, type TestApp } from './support/test-app.ts'

/** Sent to every operation; `call` checks the responses against the document. */
const bodies = [
  undefined,
  {},
  [],
  'text',
  { name: '', email: 'x', members: 'none', since: 'yesterday', event_types: [] },
]

function asCaller(app: TestApp, path: string): Record<string, string> {
  return path.startsWith('/public') ? { 'x-api-token': app.apiKey } : { authorization: `Bearer ${app.session}` }
}

type Operation = { operationId?: string; security?: object[] }

/** All operations with their entries in the served document. */
async function operationsOf(app: TestApp): Promise<(Operation & { method: string; path: string })[]> {
  const { paths } = (await app.call('GET', '/openapi.json')).body as {
    paths: Record<string, Record<string, Operation>>
  }
  return app.openapi.operations().map((one) => ({ ...paths[one.path]![one.method.toLowerCase()], ...one }))
}

test('every operation responds as documented: without a credential, to invalid input, and for unknown ids', async () => {
  await using app = await startTestApp()
  const operations = await operationsOf(app)
  expect(operations.length).toBeGreaterThan(8)
  for (const { method, path, security } of operations) {
    const url = path.replace(/\{[^}]+\}/g, 'nothing')
    const stranger = await app.call(method, url)
    expect([method, path, stranger.status === 401]).toEqual([method, path, security?.length !== 0])
    for (const body of method === 'GET' || method === 'DELETE' ? [undefined] : bodies) {
      const answer = await app.call(method, url, { headers: asCaller(app, path), body })
      expect(answer.status, `${method} ${path} ${JSON.stringify(body)}: ${answer.text}`).toBeLessThan(500)
    }
  }
})

test('every operation has a unique name, and those of the SDK have the names of its methods', async () => {
  await using app = await startTestApp()
  const operations = await operationsOf(app)
  const names = operations.map(({ operationId }) => operationId)

  for (const name of names) expect(name).toMatch(/^[a-z][a-zA-Z]+$/)
  expect(new Set(names).size).toBe(names.length)
  const ofSdk = operations.filter(({ path }) => path.startsWith('/public/')).map(({ operationId }) => operationId!)
  expect(ofSdk.sort()).toEqual([
    'addGroupMembers',
    'cancelEmail',
    'checkToken',
    'getEmailEventMetric',
    'sendEmailThroughFlow',
  ])
  expect(names).toEqual(
    expect.arrayContaining([
      'getHealth',
      'getMe',
      'listWebhooks',
      'getWebhook',
      'rotateWebhookSecret',
      'replayDelivery',
    ]),
  )
  const routes = operations.map(({ method, path }) => `${method} ${path.replace(/\{(\w+)\}/g, ':$1')}`)
  expect(exceptionalRoutes.filter((route) => !routes.includes(route))).toEqual([])
})

test('the committed document is the one the service serves', async () => {
  await using app = await startTestApp({ BASE_URL: 'http://localhost:3000' })
  const served = (await app.call('GET', '/openapi.json')).body
  const committed = JSON.parse(readFileSync('docs/openapi.json', 'utf8'))
  expect(committed, 'Run `npm run openapi` and commit docs/openapi.json').toEqual(served)
})
