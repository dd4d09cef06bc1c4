import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { startTestApp, type TestApp } from './support/test-app.ts'

/** Sent to every operation; what comes back is checked against the document by `call`. */
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

test('every operation answers as the document says: without a credential, with nonsense, and for what does not exist', async () => {
  await using app = await startTestApp()
  const operations = app.openapi.operations()
  expect(operations.length).toBeGreaterThan(8)
  for (const { method, path } of operations) {
    const url = path.replace(/\{[^}]+\}/g, 'nothing')
    const open = /^\/(health|ready|openapi|api\/v1\/auth|t\/|u\/|providers)/.test(path)
    const stranger = await app.call(method, url)
    if (!open) expect([method, path, stranger.status]).toEqual([method, path, 401])
    for (const body of method === 'GET' || method === 'DELETE' ? [undefined] : bodies) {
      const answer = await app.call(method, url, { headers: asCaller(app, path), body })
      expect(answer.status, `${method} ${path} ${JSON.stringify(body)}: ${answer.text}`).toBeLessThan(500)
    }
  }
})

test('the committed document is the one the service serves', async () => {
  await using app = await startTestApp({ BASE_URL: 'http://localhost:3000' })
  const served = (await app.call('GET', '/openapi.json')).body
  const committed = JSON.parse(readFileSync('docs/openapi.json', 'utf8'))
  expect(committed, 'Run `npm run openapi` and commit docs/openapi.json').toEqual(served)
})
