import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readCatalog } from '../scripts/documentation/catalog.ts'
import { renderGuide } from '../scripts/documentation/render-guide.ts'
import { blocksOf, type GuideBlock, guideNames, readGuide } from './support/guide-blocks.ts'
import { freePort, startService } from './support/service.ts'
import { openShell, untilPrinted } from './support/shell.ts'
import { startTestApp, type TestApp } from './support/test-app.ts'
import { createTestDb } from './support/test-db.ts'
import { longTestMsMax } from './support/time-limits.ts'
import { until } from './support/until.ts'

/**
 * What the word after the language of a code block means:
 * run: a test runs it, and compares the output block that follows.
 * start: starts the service; the test starts the compiled one.
 * vectors: a test runs it with the test vectors.
 * response: the JSON that the block before it prints, apart from ids, cursors and times.
 * example: an illustration, not run.
 */
const modes: Record<string, string[]> = {
  sh: ['run', 'start', 'example'],
  ts: ['run', 'vectors'],
  python: ['vectors', 'example'],
  go: ['vectors'],
  php: ['vectors'],
  ruby: ['vectors'],
  // test/templates-doc.test.ts renders them.
  liquid: [''],
  output: [''],
  json: ['example', 'response', 'vectors'],
  http: ['example'],
  ini: ['example'],
  nginx: ['example'],
  sql: ['example'],
  yaml: ['example'],
}

test('every code block is run by a test or marked as output or example', () => {
  const unmarked = guideNames.flatMap(blocksOf).filter(({ guide, language, mode, isFenced }) => {
    const isTemplate = language === 'liquid' && guide === 'templates'
    return !isFenced || !modes[language]?.includes(mode) || (language === 'liquid' && !isTemplate)
  })
  expect(unmarked).toEqual([])
})

test('every code block starts and ends on a line of its own', () => {
  const fence = /^ *```(?:[a-z]+(?: [a-z]+)?)?$/
  const wrong = guideNames.flatMap((guide) =>
    readGuide(guide)
      .split('\n')
      .filter((line) => line.includes('```') && !fence.test(line))
      .map((line) => `${guide}: ${line}`),
  )
  expect(wrong).toEqual([])
})

test('the overview lists every guide, and every link leads to a guide and an existing section', () => {
  const guides = readCatalog().sections.flatMap((section) => section.guides)
  expect(guides.map(({ name }) => name).sort()).toEqual([...guideNames].sort())
  const sections = new Map(
    guides.map(({ name, title, markdown }) => [name, renderGuide(name, title, markdown).headings.map(({ id }) => id)]),
  )
  const broken = ['README', ...guideNames].flatMap((guide) =>
    [...readGuide(guide).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = '']) => {
      if (/^https?:\/\//.test(target)) return []
      const [, name = guide, section] = /^(?:([a-z0-9-]+)\.md)?(?:#(.+))?$/.exec(target) ?? ['', 'nothing']
      const known = sections.get(name)
      return known && (!section || known.includes(section)) ? [] : [`${guide}: ${target}`]
    }),
  )
  expect(broken).toEqual([])
})

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'waxwing-guides-'))
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
})
afterAll(() => rmSync(folder, { recursive: true }))

test('the quick start, word for word, ends with verified webhooks', async () => {
  await using testDb = await createTestDb()
  const [start, ...blocks] = blocksOf('quick-start').filter(({ language }) => language !== 'output')
  expect(start).toMatchObject({ mode: 'start', code: 'npm ci && EGRESS_ALLOW_PRIVATE=true npm start' })
  await using service = await startService('start', {
    DATABASE_URL: testDb.url,
    EGRESS_ALLOW_PRIVATE: 'true',
    SIGNUP: 'first-user',
  })
  const ports: Record<string, string> = { 3000: new URL(service.url).port, 4000: String(await freePort()) }
  const onFreePorts = (text: string) => text.replace(/\b(3000|4000)\b/g, (port) => ports[port]!)
  await using shell = openShell(folder, {})
  await runBlocks(shell, blocksOf('quick-start').slice(2), onFreePorts)
  expect(blocks.every(({ mode }) => mode === 'run')).toBe(true)
  expect(readdirSync(folder).filter((name) => !/^(block-\d+|node_modules|package\.json)$/.test(name))).toEqual([])

  // A second run ends with a sentence.
  const again = spawnSync('bash', ['-c', onFreePorts(blocks[0]!.code)], { cwd: folder, encoding: 'utf8' })
  expect(again.stderr).toMatch(/registration is closed/i)
  expect(again.stderr).not.toMatch(/TypeError|\[eval\]/)
})

test('the commands of the other guides work', async () => {
  const guides = guideNames.filter((name) => name !== 'quick-start' && shellBlocks(name).length > 0)
  await using app = await startTestApp(submission)
  const environment = await prepare(app)
  for (const guide of guides) {
    await using shell = openShell(folder, environment)
    await runBlocks(shell, blocksOf(guide), (text) => text)
  }
})

/** With a certificate, as in the guide. */
const submission = {
  SUBMISSION_PORT: '0',
  SUBMISSION_TLS_CERT_FILE: resolve('test/support/certificates/localhost.pem'),
  SUBMISSION_TLS_KEY_FILE: resolve('test/support/certificates/localhost-key.pem'),
}
const certificateAuthority = resolve('test/support/certificates/ca.pem')

const shellBlocks = (guide: string) =>
  blocksOf(guide).filter(({ language, mode }) => language === 'sh' && mode === 'run')

test('the TypeScript programs of the guides compile and run', { timeout: longTestMsMax.processes }, async () => {
  const programs = guideNames.flatMap((guide) =>
    blocksOf(guide).flatMap(({ language, mode, code }, at, all) =>
      language === 'ts' && mode === 'run' ? [{ file: `${guide}-${at}`, code, next: all[at + 1] }] : [],
    ),
  )
  for (const { file, code } of programs) writeFileSync(join(folder, `${file}.ts`), code)
  const options = '--strict --skipLibCheck --target es2023 --module nodenext --types node'.split(' ')
  const files = programs.map(({ file }) => `${file}.ts`)
  const compiled = spawnSync(resolve('node_modules/.bin/tsc'), [...options, ...files], { cwd: folder })
  expect(String(compiled.stdout)).toBe('')

  await using app = await startTestApp(submission)
  const env = { PATH: process.env.PATH, ...(await prepare(app)) }
  for (const { file, next } of programs) {
    const { stdout } = await promisify(execFile)(process.execPath, [`${file}.js`], { cwd: folder, env })
    if (next?.language === 'output') await untilPrinted(next.code, () => stdout)
  }
})

async function runBlocks(shell: ReturnType<typeof openShell>, blocks: GuideBlock[], adapt: (text: string) => string) {
  let printed = () => ''
  let isRun = false
  for (const { language, mode, code } of blocks) {
    if (language === 'output' && isRun) await untilPrinted(adapt(code), printed)
    if (mode === 'response') {
      if (!isRun) throw new Error(`No command printed this response:\n${code}`)
      expect(withoutVariables(JSON.parse(printed()))).toEqual(withoutVariables(JSON.parse(code)))
    }
    isRun = language === 'output' ? isRun : language === 'sh' && mode === 'run'
    if (language !== 'output' && isRun) printed = await shell.run(adapt(code))
  }
}

/** Replaces what differs in each run. */
const withoutVariables = (response: unknown): unknown =>
  JSON.parse(JSON.stringify(response), (name, value) => {
    if (name === 'cursor') return typeof value
    if (name === 'timestamp' && Number.isInteger(value)) return 'a time'
    if (typeof value !== 'string') return value
    return value.replace(/^([a-z]{3}_)[0-9a-z]{26}$/, '$1…').replace(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/, 'a time')
  })

/** The variables that the guides use: the service, its port for submission, a session, an API key, a group and a flow. */
async function prepare(app: TestApp): Promise<Record<string, string>> {
  const group = await app.manage('POST', '/organization/groups', { name: 'Customers' })
  const flow = await app.manage('POST', '/organization/flows', {
    name: 'Order shipped',
    kind: 'transactional',
    subject: 'Order {{ order_id }} is on its way',
    html: '<p>Hello {{ first_name | default: "there" }}, <a href="https://shop.example">look</a>.</p>',
  })
  const domain = await app.manage('POST', '/organization/domains', { name: 'acme-guides.com' })
  // The first event of the feed.
  await app.publicApi('POST', '/flow/send-email-through-flow', {
    flow_id: flow.body.data.id,
    contact_email: 'ada@example.com',
    context: { order_id: 1041 },
  })
  await until('the first event', async () => (await app.publicApi('GET', '/events')).body.data.events.length > 0)
  return {
    CURL_CA_BUNDLE: certificateAuthority,
    NODE_EXTRA_CA_CERTS: certificateAuthority,
    DOMAIN_ID: domain.body.data.id,
    WAXWING_URL: app.url,
    WAXWING_TOKEN: app.session,
    WAXWING_API_KEY: app.apiKey,
    SMTP_HOST: '127.0.0.1',
    SMTP_PORT: String(app.app.submissionPorts().port),
    GROUP_ID: group.body.data.id,
    FLOW_ID: flow.body.data.id,
  }
}

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
