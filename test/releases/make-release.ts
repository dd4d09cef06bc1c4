import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { brotliCompressSync } from 'node:zlib'
import { pack } from 'tar-stream'
import { expect, test } from 'vitest'
import { backUp } from '../../src/operations/backup/backup.ts'
import { exportOrganization } from '../../src/operations/backup/export-organization.ts'
import { noProgress } from '../../src/operations/backup/progress.ts'
import { version } from '../../src/platform/config/package-root.ts'
import { type Db, openDb } from '../../src/platform/db/db.ts'
import { readMigrations } from '../../src/platform/db/migrate.ts'
import { markSecret } from '../../src/platform/db/secret-mark.ts'
import { parseId } from '../../src/platform/values/ids.ts'
import { fillTables } from '../support/fill-tables.ts'
import { createFlow, send } from '../support/flows.ts'
import { sampleQuery } from '../support/openapi-check.ts'
import { callUrl, startTestApp, type TestApp } from '../support/test-app.ts'
import { until } from '../support/until.ts'
import { type Release, releaseSecret } from './releases.ts'

// Run by `npm run release-fixture`.

test(`writes the fixture of version ${version}`, async () => {
  const texts = new Set<string>()
  await using app = await startTestApp({ APP_SECRET: releaseSecret }, ['serve', 'work'], {
    openFor: ({ connection }) => recordingDb(openDb({ connection }), texts),
  })
  await useEverything(app)
  const statements = [...texts].filter(isPreparable).sort()
  expect(statements.length).toBeGreaterThan(100)
  await markSecret(app.db, { current: releaseSecret, previous: undefined })
  await fillTables(app.db, 4)

  const path = join(import.meta.dirname, version)
  rmSync(`${path}.backup`, { force: true })
  const { rows } = await backUp(`${path}.backup`, {
    db: app.db,
    secrets: { current: releaseSecret, previous: undefined },
    dataDir: app.config.DATA_DIR,
    waxwing: version,
    progress: noProgress,
  })
  const organization = `${path}.organization.jsonl`
  rmSync(organization, { force: true })
  const organizationId = parseId('org', app.organizationId)!
  await exportOrganization(organization, { db: app.db, organizationId, waxwing: version, progress: noProgress })
  const migrations = readMigrations().map(({ number, name, text }) => ({ number, name, sha256: sha256(text) }))
  const release: Release = { version, rows, migrations, statements }
  writeFileSync(`${path}.json`, `${JSON.stringify(release, null, 1)}\n`)
  writeFileSync(`${path}.program.tar.br`, brotliCompressSync(await packProgram()))
})

/** The compiled service, without its dependencies. */
async function packProgram(): Promise<Buffer> {
  const packed = pack()
  const folders = ['dist/bin', 'src/platform/db/migrations'].flatMap((folder) =>
    readdirSync(folder).map((name) => `${folder}/${name}`),
  )
  for (const name of ['package.json', ...folders].toSorted())
    packed.entry({ name, mtime: new Date(0) }, readFileSync(name))
  packed.finalize()
  return buffer(packed)
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/** Adds the text of every statement to `texts`. */
function recordingDb(db: Db, texts: Set<string>): Db {
  db.pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...args: unknown[]) => unknown
    client.query = ((...args: unknown[]) => {
      const text = typeof args[0] === 'string' ? args[0] : (args[0] as { text?: string }).text
      if (text) texts.add(text)
      return query(...args)
    }) as typeof client.query
  })
  return db
}

/** Without transaction control, and without tables that are created and dropped while the service runs. */
const isPreparable = (text: string) =>
  /^\s*(with|select|insert|update|delete)\b/i.test(text) && !/events_\d{4}_\d{2}|create table/.test(text)

/** Creates a record of every kind, calls every operation that reads, and waits for the background work. */
async function useEverything(app: TestApp): Promise<void> {
  const make = async (path: string, body: object) => (await app.manage('POST', `/organization${path}`, body)).body.data
  await make('/webhooks', { name: 'CRM', url: 'http://127.0.0.1:9/', all_events: true })
  const group = await make('/groups', { name: 'Customers' })
  const flowId = await createFlow(app)
  const ids: string[] = []
  for (const name of ['ada', 'grace', 'radia']) {
    const sent = await send(app, flowId, { contact_email: `${name}@example.com` }, { 'idempotency-key': name })
    ids.push(sent.body.data.contact_id)
  }
  await make(`/groups/${group.id}/members`, { contact_ids: ids })
  const filter = { type: 'text', field: 'email', operator: 'contains', value: 'a' }
  await make('/segments', { name: 'With an a', filter })
  await make('/suppressions', { email: 'bob@example.com' })
  await make('/invitations', { email: 'eve@acme.example', role: 'member' })
  await app.manage('PATCH', `/organization/contacts/${ids[0]}`, { first_name: 'Zoë', status: 'unsubscribed' })
  const headers = { authorization: `Bearer ${app.session}` }
  await app.call('POST', '/api/v1/organization/contacts/import', {
    headers: { ...headers, 'content-type': 'text/csv' },
    raw: 'email,name\ncarol@example.com,Carol\nnot an address,X\n',
  })
  const list = async (path: string) => (await app.manage('GET', `/organization${path}`)).body.data
  await until('the import', async () => (await list('/imports'))[0].status === 'done')
  await until('the emails', async () =>
    (await list('/messages')).every(({ status }: { status: string }) => status === 'sent'),
  )
  const flow = `${app.url}/api/v1/organization/flows/${flowId}`
  await fetch(flow, {
    method: 'PATCH',
    headers: { ...headers, 'content-type': 'application/json' },
    body: '{"name":"Shipped"}',
  })

  const parameters: Record<string, string> = { contacts: ids[0]!, flows: flowId, groups: group.id }
  for (const { method, path, query } of app.openapi.operations()) {
    if (method !== 'GET') continue
    const url = path.replace(
      /([\w-]+)\/\{[^}]+\}/g,
      (whole, kind) => `${kind}/${parameters[kind] ?? whole.split('/')[1]}`,
    )
    const sample = sampleQuery(query, path.includes('metrics') ? ['start_date', 'end_date'] : ['query'])
    await callUrl(method, `${app.url}${url}?${sample}`, {
      headers: path.startsWith('/public') ? { 'x-api-token': app.apiKey } : headers,
    })
  }
}
