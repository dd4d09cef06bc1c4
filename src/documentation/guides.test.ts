import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createServer } from '../http/server.ts'
import { readCatalog } from './catalog.ts'
import { registerGuides } from './guides.routes.ts'
import { renderGuide } from './render-guide.ts'

async function startGuides(baseUrl = 'http://localhost:3000') {
  const server = createServer({ log: pino({ level: 'silent' }), baseUrl, trustProxy: false })
  await registerGuides(server, { baseUrl, onRequest: async () => {} })
  return {
    get: (url: string, headers = {}) => server.inject({ method: 'GET', url, headers }),
    [Symbol.asyncDispose]: () => server.close(),
  }
}

test('serves every guide as a page and as Markdown, without inline scripts or styles', async () => {
  await using guides = await startGuides()
  const all = readCatalog()!.sections.flatMap((section) => section.guides)
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
  await using guides = await startGuides()
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
  await using guides = await startGuides('https://example.com/mail')
  const { body } = await guides.get('/llms.txt')
  expect(body).toMatch(/^# Waxwing\n\n> /)
  const links = [...body.matchAll(/\(https:\/\/example\.com\/mail(\/docs\/guides\/[a-z-]+\.md)\)/g)]
  expect(links).toHaveLength(readCatalog()!.sections.flatMap((section) => section.guides).length)
  for (const [, path] of links) expect((await guides.get(path!)).statusCode).toBe(200)
  expect((await guides.get('/llms-full.txt')).body).toContain('# Verifying webhooks')
  const redirect = await guides.get('/docs/guides')
  expect([redirect.statusCode, redirect.headers.location]).toEqual([302, '/mail/docs/guides/'])
})

test('headings get the ids that GitHub gives them, unique on a page', () => {
  const { headings, html } = renderGuide(
    'x',
    'X',
    '# X\n\n## Say `hi`!\n\n## Changing APP_SECRET\n\n## Same\n\n## Same\n',
  )
  expect(headings.map(({ id }) => id)).toEqual(['say-hi', 'changing-app_secret', 'same', 'same-1'])
  expect(html).toContain('<h2 id="say-hi">')
})

test('code is escaped, and links to other guides lose their extension', () => {
  const { html, entries } = renderGuide(
    'x',
    'X',
    '```sh run\necho "<b>" & # [x](y.md)\n```\n\n[Next](sending.md#context)\n',
  )
  const withoutMarks = html.replace(/<\/?span[^>]*>/g, '')
  expect(withoutMarks).toContain('echo &quot;&lt;b&gt;&quot; &amp; # [x](y.md)')
  expect(html).toContain('<span class="hljs-comment"># [x](y.md)</span>')
  expect(html).toContain('<a href="sending#context">Next</a>')
  expect(entries[0]?.text).toContain('Next')
})
