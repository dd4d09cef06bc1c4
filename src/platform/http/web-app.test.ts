import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createServer } from './server.ts'
import { pageNames, registerWebApp } from './web-app.ts'

const script = 'export const answer = 42\n'

/** Starts a server that serves a web app with one file. */
async function startWebApp() {
  const folder = mkdtempSync(join(tmpdir(), 'waxwing-web-app-'))
  mkdirSync(join(folder, 'assets'))
  writeFileSync(join(folder, 'assets', 'app-1a2b.js'), script)
  const baseUrl = () => 'http://localhost:3000'
  const server = createServer({ log: pino({ level: 'silent' }), baseUrl, trustProxy: false })
  await registerWebApp(server, baseUrl, folder)
  const { port } = new URL(await server.listen({ port: 0, host: '127.0.0.1' }))
  return {
    /** Sends the path unchanged; `fetch` would normalize it. */
    get: async (path: string, header = 'accept: */*') => {
      const socket = connect(Number(port), '127.0.0.1')
      socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${header}\r\n\r\n`)
      const [head, body] = (await text(socket)).split('\r\n\r\n') as [string, string]
      return { status: Number(head.split(' ')[1]), head, body }
    },
    [Symbol.asyncDispose]: async () => {
      await server.close()
      rmSync(folder, { recursive: true })
    },
  }
}

test('the pages of the web app are served, and all of them are known', async () => {
  await using app = await startWebApp()
  const paths = readFileSync(new URL('../../../web/src/paths.ts', import.meta.url), 'utf8')
  const routes = readFileSync(new URL('../../../web/src/routes.tsx', import.meta.url), 'utf8')
  const linkedInEmails = ['confirm-email', 'invitation', 'reset-password']
  for (const name of linkedInEmails) expect(routes).toContain(`path: '${name}`)
  const names = new Set([...linkedInEmails, ...[...paths.matchAll(/['`]\/([a-z-]+)/g)].map(([, name]) => name!)])
  expect([...names].sort()).toEqual(pageNames)
  for (const path of [
    '/',
    '/?a=1',
    ...pageNames.map((name) => `/${name}`),
    '/flows/flw_1/edit',
    '/contacts/a@b.example',
  ])
    expect([path, (await app.get(path)).status]).toEqual([path, 200])
})

test('other paths are not found: as a page for browsers, and as JSON for programs', async () => {
  await using app = await startWebApp()
  const browser = 'accept: text/html,application/xhtml+xml,*/*;q=0.8'
  for (const path of ['/nothing', '/openapi.yaml', '/flowsx', '/wp-login.php', '/.env', '/favicon.ico']) {
    const page = await app.get(path, browser)
    expect([path, page.status, page.body.startsWith('<!doctype html>')]).toEqual([path, 404, true])
    for (const accept of ['accept: */*', 'accept: application/json', 'x: y']) {
      const { status, body } = await app.get(path, accept)
      expect([path, status, JSON.parse(body).error.type]).toEqual([path, 404, 'not_found'])
    }
  }
  const api = await app.get('/api/v1/nothing', browser)
  expect([api.status, JSON.parse(api.body).error.type]).toEqual([404, 'not_found'])
})

test('serves a complete, immutable file, even for a range request', async () => {
  await using app = await startWebApp()
  for (const header of ['accept: */*', 'range: bytes=0-3', 'range: bytes=99999999-']) {
    const { status, head, body } = await app.get('/assets/app-1a2b.js', header)
    expect([header, status, body]).toEqual([header, 200, script])
    expect(head).toContain('cache-control: public, max-age=31536000, immutable')
  }
})

test('returns 404 for files that do not exist or cannot be served', async () => {
  await using app = await startWebApp()
  const file = '/assets/app-1a2b.js'
  const cases: [string, string?][] = [
    ['/assets/nope.js'],
    ['/assets/'],
    ['/assets/a/../app-1a2b.js'],
    ['/assets/../package.json'],
    ['/assets/%2e%2e/package.json'],
    ['/assets/a%00b'],
    ['/assets/a%5cb'],
    ['/assets//app-1a2b.js'],
    [`${file}/more`],
    [`/assets/${'x'.repeat(5_000)}`],
    [file, 'if-match: "another"'],
    [file, 'if-unmodified-since: Sun, 06 Nov 1994 08:49:37 GMT'],
  ]
  for (const [path, header] of cases) {
    const { status, head, body } = await app.get(path, header)
    expect([path, header, status]).toEqual([path, header, 404])
    const { error } = JSON.parse(body)
    expect(error.type).toBe('not_found')
    expect(head).toContain(`x-request-id: ${error.request_id}`)
  }
})
