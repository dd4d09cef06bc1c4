import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { fillTables } from '../../test/support/fill-tables.ts'
import { createFlow, send } from '../../test/support/flows.ts'
import { registerOther } from '../../test/support/people.ts'
import { startService } from '../../test/support/service.ts'
import { callUrl, startTestApp, type TestApp } from '../../test/support/test-app.ts'
import { createTestDb } from '../../test/support/test-db.ts'
import { until } from '../../test/support/until.ts'
import type { Db } from '../db/db.ts'
import { SecretBox } from '../secrets/secrets.ts'
import { type OrganizationId, parseId } from '../values/ids.ts'
import { exportOrganization } from './export-organization.ts'
import { importOrganization } from './import-organization.ts'
import { excludedTables } from './organization-tables.ts'
import { noProgress } from './progress.ts'

const folder = mkdtempSync(join(tmpdir(), 'waxwing-export-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let count = 0
const newPath = () => join(folder, `file-${count++}`)
const otherSecret = 'the secret of the installation that imports'
const box = new SecretBox({ current: otherSecret, previous: undefined }, 'webhook secrets')

async function exportFrom(db: Db, organizationId: OrganizationId): Promise<string> {
  const path = newPath()
  await exportOrganization(path, { db, organizationId, waxwing: '0.1.0', progress: noProgress })
  return path
}
const importInto = (db: Db, path: string) => importOrganization(path, { db, box, progress: noProgress })

/** An organization with rows in every table, one email that is queued, and another organization beside it. */
async function startFilled(): Promise<TestApp & { id: OrganizationId }> {
  const app = await startTestApp({}, ['serve'])
  await registerOther(app)
  const webhook = { name: 'CRM', url: 'http://127.0.0.1:9/', all_events: true, acknowledge: '2xx', retry_4xx: [429] }
  await app.manage('POST', '/organization/webhooks', webhook)
  const flowId = await createFlow(app)
  await send(app, flowId)
  await app.manage('PUT', `/organization/flows/${flowId}/draft`, { subject: 'Draft' })
  await app.manage('POST', `/organization/flows/${flowId}/duplicate`)
  await app.manage('POST', '/organization/contacts', {
    email: 'zoe@example.com',
    first_name: 'Zoë',
    attributes: { n: 1.5 },
  })
  await fillTables(app.db)
  return Object.assign(app, { id: parseId('org', app.organizationId)! })
}

const linesOf = (path: string) => readFileSync(path, 'utf8').split('\n').slice(0, -1)
const tablesIn = (path: string) =>
  linesOf(path)
    .filter((line) => line.startsWith('{"table"'))
    .map((line) => JSON.parse(line).table as string)

test('an organization that is exported, imported and exported again has the same bytes', async () => {
  await using app = await startFilled()
  await using fresh = await createTestDb()
  const first = await exportFrom(app.db, app.id)
  expect(statSync(first).mode & 0o777).toBe(0o600)
  expect(await importInto(fresh.db, first)).toMatchObject({ organizationId: app.id, isNew: true })
  const second = await exportFrom(fresh.db, app.id)
  expect(linesOf(second)).toEqual(linesOf(first))

  // Every tenant table is exported or excluded on purpose, and no other organization is in the file.
  const tenant = await app.db<{ name: string }>`
    select table_name as name from information_schema.columns join pg_class on relname = table_name
    where column_name = 'organization_id' and relkind in ('r', 'p') and not relispartition`
  const expected = tenant.map(({ name }) => name).filter((name) => !excludedTables.has(name))
  expect(tablesIn(first).sort()).toEqual([...expected, 'organizations'].sort())
  const [other] = await app.db<{ id: string }>`select id from organizations where name = 'Other'`
  expect(readFileSync(first, 'utf8')).not.toContain(other!.id)
})

test('importing again changes nothing, also after the organization was edited', async () => {
  await using app = await startFilled()
  await using fresh = await createTestDb()
  const path = await exportFrom(app.db, app.id)
  await importInto(fresh.db, path)
  await fresh.db.statement`delete from contacts where email_key = 'zoe@example.com'`
  const before = linesOf(await exportFrom(fresh.db, app.id))
  expect(await importInto(fresh.db, path)).toEqual({ organizationId: app.id, isNew: false, rows: 0 })
  expect(linesOf(await exportFrom(fresh.db, app.id))).toEqual(before)
})

test('what is queued is not sent twice, and webhooks are paused with a new secret', async () => {
  await using app = await startFilled()
  await using fresh = await createTestDb()
  const [queued] = await app.db`select from messages where status = 'queued'`
  expect(queued).toBeDefined()
  await importInto(fresh.db, await exportFrom(app.db, app.id))
  expect(await fresh.db`select from messages where status = 'queued'`).toEqual([])
  expect(await fresh.db`select from deliveries where status = 'pending'`).toEqual([])
  expect(await fresh.db`select from jobs`).toEqual([])
  const [webhook, ...others] = await fresh.db<{ secret: Buffer }>`
    select secret, status, acknowledge, retry_4xx from webhooks`
  expect(webhook).toMatchObject({ status: 'paused', acknowledge: '2xx', retry4xx: [429] })
  expect([box.open(webhook!.secret)?.slice(0, 6), others]).toEqual(['whsec_', []])
})

test('members can sign in to the importing installation, and API keys work', async () => {
  await using app = await startFilled()
  await using fresh = await createTestDb()
  await importInto(fresh.db, await exportFrom(app.db, app.id))
  await using service = await startService('serve', { DATABASE_URL: fresh.url, APP_SECRET: otherSecret })
  const login = await callUrl('POST', `${service.url}/api/v1/auth/login`, {
    body: { email: 'owner@acme.example', password: 'correct horse battery' },
  })
  expect(login.status).toBe(200)
  const headers = { authorization: `Bearer ${login.body.data.token}` }
  const found = await callUrl('GET', `${service.url}/api/v1/organization/contacts?query=zoe`, { headers })
  expect(found.body.data[0]).toMatchObject({ email: 'zoe@example.com', first_name: 'Zoë', attributes: { n: 1.5 } })
  const flows = await callUrl('GET', `${service.url}/api/v1/organization/flows`, { headers })
  const flow = flows.body.data.find(
    ({ status, name }: { status: string; name: string }) => status === 'active' && name === 'Order shipped',
  )
  const sent = await callUrl('POST', `${service.url}/public/api/v1/flow/send-email-through-flow`, {
    headers: { 'x-api-token': app.apiKey },
    body: { flow_id: flow.id, contact_email: 'zoe@example.com', context: { order_id: 1 } },
  })
  expect(sent.status, sent.text).toBe(200)
  await until('the message', async () => (await fresh.db`select from messages where status = 'queued'`).length === 1)
})

test('a truncated file, another schema, an account that exists and an unknown organization are rejected', async () => {
  await using app = await startFilled()
  await using fresh = await createTestDb()
  const path = await exportFrom(app.db, app.id)
  const lines = linesOf(path)
  const rejected = async (content: string[], reason: string) => {
    const changed = newPath()
    writeFileSync(changed, `${content.join('\n')}\n`)
    await expect(importInto(fresh.db, changed)).rejects.toThrow(reason)
    expect(await fresh.db`select from organizations`).toEqual([])
  }
  await rejected(lines.slice(0, -1), 'incomplete')
  await rejected(lines.toSpliced(-5, 1), 'incomplete')
  await rejected([...lines.slice(0, -20), '{"half', ...lines.slice(-20)], 'incomplete')
  await rejected([lines[0]!.replace('[1,', '['), ...lines.slice(1)], 'another schema')
  await rejected(
    lines.map((line) => line.replace('{"table":"contacts"', '{"table":"pg_authid"')),
    'incomplete',
  )
  await rejected(['{}'], 'is not an export')
  await expect(importInto(fresh.db, newPath())).rejects.toThrow('cannot be read')

  const [owner] = await app.db<{ emailKey: string }>`select email_key from users where email_key = 'owner@acme.example'`
  await fresh.db
    .statement`insert into organizations (id, name) values ('00000000-0000-7000-8000-000000000001', 'There')`
  await fresh.db.statement`
    insert into users (id, organization_id, email, email_key, password_hash, role)
    values (gen_random_uuid(), '00000000-0000-7000-8000-000000000001', 'x', ${owner!.emailKey}, '', 'owner')`
  await expect(importInto(fresh.db, path)).rejects.toThrow('already has an account')
  expect(await fresh.db`select from contacts`).toEqual([])
  const unknown = '00000000-0000-7000-8000-000000000002' as OrganizationId
  await expect(exportFrom(app.db, unknown)).rejects.toThrow('no organization with this id')
})
