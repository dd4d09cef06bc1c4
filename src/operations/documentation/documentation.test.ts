import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { readCatalog } from '../../../scripts/documentation/catalog.ts'
import { createServer } from '../../platform/http/server.ts'
import { registerDocumentation } from './documentation.routes.ts'

async function startDocumentation(baseUrl = 'http://localhost:3000') {
  const server = createServer({ log: pino({ level: 'silent' }), baseUrl: () => baseUrl, trustProxy: false })
  registerDocumentation(server, { baseUrl: () => baseUrl, onRequest: async () => {} })
  return {
    get: (url: string, headers = {}) => server.inject({ method: 'GET', url, headers }),
    [Symbol.asyncDispose]: () => server.close(),
  }
}

test('serves every guide as a page and as Markdown, without inline scripts or styles', async () => {
  await using guides = await startDocumentation()
  const all = readCatalog().sections.flatMap((section) => section.guides)
  expect(all.length).toBeGreaterThan(15)
  for (const { name, title, markdown } of all) {
    const page = await guides.get(`/docs/guides/${name}`)
    expect([name, page.statusCode, page.headers['content-type']]).toEqual([name, 200, 'text/html; charset=utf-8'])
    expect(page.headers['content-security-policy']).toContain("script-src 'self'; style-src 'self';")
    expect(page.body).toContain(`${title} · Waxwing guides`)
    expect(page.body).not.toMatch(/<script(?! src)|<style|style="|\son\w+="/)
    const source = await guides.get(`/docs/guides/${name}.md`)
    expect([source.headers['content-type'], source.body]).toEqual(['text/markdown; charset=utf-8', markdown])
  }
  expect((await guides.get('/docs/guides/nothing')).statusCode).toBe(404)
})

test('versioned files are immutable, and a client that has a page gets 304', async () => {
  await using guides = await startDocumentation()
  const { body, headers } = await guides.get('/docs/guides/')
  const files = [...body.matchAll(/(?:href|src)="(guides\.(?:css|js)\?v=\w+)"/g)].map(([, file]) => file)
  expect(files).toHaveLength(2)
  for (const file of files) {
    const { statusCode, headers: sent } = await guides.get(`/docs/guides/${file}`)
    expect([file, statusCode, sent['cache-control']]).toEqual([file, 200, 'public, max-age=31536000, immutable'])
  }
  expect((await guides.get('/docs/guides/', { 'if-none-match': headers.etag })).statusCode).toBe(304)
  const [, index] = /'(search-index\.json\?v=\w+)'/.exec((await guides.get(`/docs/guides/${files[1]}`)).body)!
  expect((await guides.get(`/docs/guides/${index}`)).json().length).toBeGreaterThan(100)
})

test('llms.txt links to the Markdown of every guide below the base URL', async () => {
  await using guides = await startDocumentation('https://example.com/mail')
  const { body } = await guides.get('/llms.txt')
  expect(body).toMatch(/^# Waxwing\n\n> /)
  const links = [...body.matchAll(/\(https:\/\/example\.com\/mail(\/docs\/guides\/[a-z-]+\.md)\)/g)]
  expect(links).toHaveLength(readCatalog().sections.flatMap((section) => section.guides).length)
  for (const [, path] of links) expect((await guides.get(path!)).statusCode).toBe(200)
  expect((await guides.get('/llms-full.txt')).body).toContain('# Verifying webhooks')
  const redirect = await guides.get('/docs/guides')
  expect([redirect.statusCode, redirect.headers.location]).toEqual([302, '/mail/docs/guides/'])
})

test('files are sent in the best encoding that the client accepts', async () => {
  await using docs = await startDocumentation()
  const plain = await docs.get('/docs/js/scalar.js')
  expect([plain.statusCode, plain.headers['content-encoding']]).toEqual([200, undefined])
  const unpack = { gzip: gunzipSync, br: brotliDecompressSync }
  for (const [encoding, open] of Object.entries(unpack))
    for (const path of ['/docs/js/scalar.js', '/openapi.json']) {
      const sent = await docs.get(path, { 'accept-encoding': `deflate, ${encoding}` })
      expect([sent.headers['content-encoding'], sent.headers.vary]).toEqual([encoding, 'accept-encoding'])
      expect(open(sent.rawPayload).equals((await docs.get(path)).rawPayload)).toBe(true)
    }
})

test('the served document names the base URL, also in its code samples', async () => {
  await using docs = await startDocumentation('https://example.com/mail/')
  const { body, headers } = await docs.get('/openapi.json')
  const { servers, info, paths } = JSON.parse(body)
  expect([servers[0].url, info.contact.url]).toEqual([
    'https://example.com/mail',
    'https://example.com/mail/docs/guides/',
  ])
  expect(paths['/health'].get['x-codeSamples'][0].source).toBe("curl 'https://example.com/mail/health'")
  expect(body).not.toContain('base-url.invalid')
  await using other = await startDocumentation('https://other.example')
  expect((await other.get('/openapi.json')).headers.etag).not.toBe(headers.etag)
})
