import { createPrivateKey, createPublicKey, randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { startCommand } from '../../../test/support/command.ts'
import { fillTables } from '../../../test/support/fill-tables.ts'
import { createFlow, send } from '../../../test/support/flows.ts'
import { registerOther } from '../../../test/support/people.ts'
import { create } from '../../../test/support/resources.ts'
import { startService } from '../../../test/support/service.ts'
import { callUrl, startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { createTestDb } from '../../../test/support/test-db.ts'
import { until } from '../../../test/support/until.ts'
import { domainKeyBox } from '../../delivery/domains/dkim-keys.ts'
import type { Db } from '../../platform/db/db.ts'
import { SecretBox } from '../../platform/secrets/secrets.ts'
import { SetupFault } from '../../platform/values/errors.ts'
import { type OrganizationId, parseId } from '../../platform/values/ids.ts'
import { exportOrganization } from './export-organization.ts'
import { importOrganization } from './import-organization.ts'
import { emptyTables, excludedTables } from './organization-tables.ts'
import { noProgress } from './progress.ts'

const folder = mkdtempSync(join(tmpdir(), 'waxwing-export-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let count = 0
const newPath = () => join(folder, `file-${count++}`)
const otherSecret = 'the secret of the installation that imports'
const secrets = { current: otherSecret, previous: undefined }
const box = new SecretBox(secrets, 'webhook secrets')

async function exportFrom(db: Db, organizationId: OrganizationId): Promise<string> {
  const path = newPath()
  await exportOrganization(path, { db, organizationId, waxwing: '0.1.0', progress: noProgress })
  return path
}
const importInto = (db: Db, path: string) => importOrganization(path, { db, secrets, progress: noProgress })

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
  const filter = { type: 'text', field: 'email', operator: 'contains', value: 'z' }
  await app.manage('POST', '/organization/segments', { name: 'With a z', filter })
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

test('members can sign in to the importing installation, and API keys work when the import is confirmed', async () => {
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
  const sendOne = () =>
    callUrl('POST', `${service.url}/public/api/v1/flow/send-email-through-flow`, {
      headers: { 'x-api-token': app.apiKey },
      body: { flow_id: flow.id, contact_email: 'zoe@example.com', context: { order_id: 1 } },
    })
  expect((await sendOne()).status).toBe(401)
  const keys = await callUrl('GET', `${service.url}/api/v1/organization/api-keys`, { headers })
  expect(keys.body.data.map(({ unconfirmed }: { unconfirmed: boolean }) => unconfirmed)).toEqual([true])
  const settings = { DATABASE_URL: fresh.url, APP_SECRET: otherSecret }
  const args = ['confirm-import', '--organization', app.organizationId]
  await using command = startCommand(args, settings, { cwd: folder })
  const confirmed = JSON.parse((await command.ended).stdout)
  expect(confirmed).toMatchObject({ operator: true, api_keys: 1 })
  expect(confirmed.members).toContainEqual({ email: 'owner@acme.example', role: 'owner' })
  const sent = await sendOne()
  expect(sent.status, sent.text).toBe(200)
  await until('the message', async () => (await fresh.db`select from messages where status = 'queued'`).length === 1)
})

test('a truncated file, a newer or too old one, an account that exists and an unknown organization are rejected', async () => {
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
  await rejected([lines[0]!.replace('[1,', '['), ...lines.slice(1)], 'version 0.1.0, which is too old')
  await rejected(
    [lines[0]!.replace('[1,', '[1,9000,'), ...lines.slice(1)],
    'version 0.1.0, which is newer than this one',
  )
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

/** The lines of an export that an attacker edits. */
type Edit = (line: string, table: string) => string
const edited = (lines: string[], edit: Edit) => {
  let table = ''
  return lines.map((line) => {
    const control = JSON.parse(line)
    if (control.table && control.columns) table = control.table
    return edit(line, control.columns || control.format || control.rows !== undefined ? '' : table)
  })
}
/** Changes the first row of a table. */
const editRow = (table: string, change: (row: Record<string, unknown>) => Record<string, unknown>): Edit => {
  let isDone = false
  return (line, current) => {
    if (current !== table || isDone) return line
    isDone = true
    return JSON.stringify(change(JSON.parse(line)))
  }
}

/** All rows of the tables that have an organization, without those of one organization. */
async function rowsWithout(db: Db, id: string): Promise<Record<string, string[]>> {
  const tables = await db<{ name: string }>`
    select relname as name from pg_class
    where relkind in ('r', 'p') and not relispartition and relnamespace = current_schema()::regnamespace
      and (relname = 'organizations' or exists (
        select from pg_attribute where attrelid = pg_class.oid and attname = 'organization_id'))`
  const rows: Record<string, string[]> = {}
  for (const { name } of tables) {
    const column = name === 'organizations' ? 'id' : 'organization_id'
    const text = `select ${name}::text as row from ${name} where ${column} <> $1 order by 1`
    rows[name] = (await db.run<{ row: string }>({ text, values: [id] })).map(({ row }) => row)
  }
  return rows
}

/** An installation with the organization of a victim, and an exported organization whose file an attacker edits. */
const source = await startFilled()
const target = await startTestApp({}, ['serve'])
afterAll(() => Promise.all([source[Symbol.asyncDispose](), target[Symbol.asyncDispose]()]))
const victim = await registerOther(target, 'owner@victim.example')
const victimId = parseId('org', victim.organizationId)!
await create(target, '/contacts', { email: 'theirs@example.com' })
const exported = await exportFrom(source.db, source.id)
let attackers = 0

/** The lines of the export, with ids and an account that the target does not know. */
async function newFile(): Promise<{ id: string; lines: string[] }> {
  // The test installations begin with the same organization.
  const [known] = await source.db<Record<string, string>>`
    select users.id as user, api_keys.id as key, key_hash::text as hash
    from api_keys join users on users.id = created_by where api_keys.organization_id = ${source.id}`
  const id = randomUUID()
  const number = ++attackers
  const replaced: [string, string][] = [
    [source.id, id],
    [known!.user!, randomUUID()],
    [known!.key!, randomUUID()],
    [known!.hash!.slice(-20), String(number).repeat(20)],
    ['owner@acme.example', `owner@attacker${number}.example`],
  ]
  const lines = linesOf(exported).map((line) => replaced.reduce((text, [from, to]) => text.replaceAll(from, to), line))
  return { id, lines }
}

const change = (lines: string[], table: string, changed: Record<string, unknown>) =>
  edited(
    lines,
    editRow(table, (row) => ({ ...row, ...changed })),
  )

const firstRow = (lines: string[], table: string): Record<string, string> =>
  JSON.parse(lines[lines.findIndex((line) => line.startsWith(`{"table":"${table}"`)) + 1]!)

/** Adds a row to a table, and to the number of rows. */
const withRow = (lines: string[], table: string, row: object) =>
  lines
    .toSpliced(lines.findIndex((line) => line.startsWith(`{"table":"${table}"`)) + 1, 0, JSON.stringify(row))
    .with(-1, JSON.stringify({ rows: JSON.parse(lines.at(-1)!).rows + 1 }))

/** The functions with which a test edits a file and tries to import it. At the end, nothing may have changed. */
async function startAttack() {
  const { id, lines } = await newFile()
  const before = await rowsWithout(target.db, id)
  const refused = async (content: string[], reason = 'Nothing was imported') => {
    const path = newPath()
    writeFileSync(path, `${content.join('\n')}\n`)
    const error = await importInto(target.db, path).then(
      () => new Error('The file was imported.'),
      (each: Error) => each,
    )
    expect(error.message, content.join('\n').slice(0, 500)).toContain(reason)
    expect(error).toBeInstanceOf(SetupFault)
  }
  const expectNoChange = async () => {
    expect(await target.db`select from organizations where id = ${id}`).toEqual([])
    expect(await rowsWithout(target.db, id)).toEqual(before)
  }
  return { lines, refused, expectNoChange }
}

test('a file with rows of other organizations is rejected, whatever the table', async () => {
  const { lines, refused, expectNoChange } = await startAttack()
  const tables = tablesIn(exported).filter((table) => table !== 'organizations' && !emptyTables.has(table))
  expect(tables).toEqual(expect.arrayContaining(['users', 'api_keys', 'contacts', 'flow_versions', 'webhooks']))
  for (const table of tables) await refused(change(lines, table, { organization_id: victimId }))
  await refused(change(lines, 'users', { organization_id: parseId('org', target.organizationId) }))
  await refused(change(lines, 'users', { organization_id: null }))
  await expectNoChange()
})

test('a file with an account, an id or a key that exists is rejected', async () => {
  const { lines, refused, expectNoChange } = await startAttack()
  const [user] = await target.db<{ id: string; emailKey: string }>`
    select id, email_key from users where organization_id = ${victimId}`
  const [key] = await target.db<{ hash: string }>`
    select key_hash::text as hash from api_keys where organization_id = ${parseId('org', target.organizationId)!}`
  await refused(change(lines, 'users', { email_key: user!.emailKey }), 'already has an account')
  await refused(change(lines, 'users', { id: user!.id }))
  await refused(change(lines, 'api_keys', { key_hash: key!.hash }))
  await expectNoChange()
})

test('a file must have exactly one organization, which is that of its header', async () => {
  const { lines, refused, expectNoChange } = await startAttack()
  await refused(change(lines, 'organizations', { id: victimId }))
  const organization = lines.findIndex((line) => line.startsWith('{"table":"organizations"')) + 1
  await refused(lines.toSpliced(organization, 1))
  await refused(lines.toSpliced(organization, 0, lines[organization]!))
  const another = JSON.stringify({ ...JSON.parse(lines[organization]!), id: victimId })
  await refused(lines.toSpliced(organization, 0, another))
  const end = JSON.parse(lines.at(-1)!).rows
  await refused([...lines.toSpliced(organization, 1).slice(0, -1), JSON.stringify({ rows: end - 1 })])
  await expectNoChange()
})

test('a file with tables or columns that are not exported is rejected', async () => {
  const { lines, refused, expectNoChange } = await startAttack()
  const columnsOf = (table: string) => JSON.parse(lines.find((line) => line.startsWith(`{"table":"${table}"`))!).columns
  const organization = lines.findIndex((line) => line.startsWith('{"table":"organizations"')) + 1
  for (const [table, columns] of [
    ['jobs', ['organization_id']],
    ['sessions', ['organization_id', 'user_id', 'id']],
    ['password_resets', ['organization_id', 'token_hash']],
    ['sending_pause', ['only_row']],
    ['secret_mark', ['only_row']],
    ['organizations', [...columnsOf('organizations'), 'is_operator']],
    ['contacts', { join: 1 }],
    ['contacts', undefined],
    [['contacts'], columnsOf('contacts')],
    ['contacts', [columnsOf('contacts').join()]],
    ['contacts', []],
    ['contacts', columnsOf('contacts').filter((column: string) => column !== 'organization_id')],
    ['contacts', [...columnsOf('contacts'), 'email']],
  ])
    await refused(lines.toSpliced(organization + 1, 0, JSON.stringify({ table, columns }), '{}'))
  await expectNoChange()
})

test('a file with malformed lines, another header or too large a filter is rejected', async () => {
  const { lines, refused, expectNoChange } = await startAttack()
  const contactRow = lines.findIndex((line) => line.startsWith('{"table":"contacts"')) + 1
  await refused(lines.with(contactRow, `${lines[contactRow]},${lines[contactRow]}`))
  await refused(lines.toSpliced(1, 0, '{}'))
  const header = JSON.parse(lines[0]!)
  for (const changed of [
    { migrations: undefined },
    { migrations: { join: 1 } },
    { waxwing: { version: 1 } },
    { organization_id: undefined },
    { organization_id: 1 },
    { organization_id: "' or true" },
    { organization_id: header.organization_id.toUpperCase() },
  ])
    await refused(lines.with(0, JSON.stringify({ ...header, ...changed })), 'is not an export')
  await refused(lines.with(0, JSON.stringify({ ...header, organization_id: randomUUID() })))
  await refused(lines.with(0, 'null'), 'is not an export')
  const conditions = Array.from({ length: 500 }, () => ({ type: 'text', field: 'email', operator: 'is_set' }))
  await refused(change(lines, 'segments', { filter: { type: 'any', conditions } }))
  await expectNoChange()
})

test('columns that a file leaves out have their defaults, and rights and states that are not taken over cannot get one', async () => {
  const { id, lines } = await newFile()
  const left: Record<string, string[]> = {
    contacts: ['attributes', 'created_at'],
    webhooks: ['status', 'paused_reason'],
    domains: ['status', 'next_check_at', 'uses_tracking_host'],
    event_exports: ['status'],
    stored_files: ['in_bucket'],
  }
  const path = newPath()
  const older = lines.map((line) => {
    const { table, columns } = JSON.parse(line)
    if (!left[table] || !columns) return line
    expect(columns).toEqual(expect.arrayContaining(left[table]))
    return JSON.stringify({ table, columns: columns.filter((column: string) => !left[table]!.includes(column)) })
  })
  writeFileSync(path, `${older.join('\n')}\n`)
  expect(await importInto(target.db, path)).toMatchObject({ isNew: true })
  const contacts = await target.db`select distinct attributes from contacts where organization_id = ${id}`
  expect(contacts).toEqual([{ attributes: {} }])
  const states = await target.db`
    select 'webhook' as kind, status, paused_reason is not null as is_explained from webhooks where organization_id = ${id}
    union select 'domain', status, uses_tracking_host from domains where organization_id = ${id}
    union select 'export', status, paused_reason is not null from event_exports where organization_id = ${id}
    union select 'file', in_bucket::text, false from stored_files where organization_id = ${id}
    order by kind`
  expect(states).toEqual([
    { kind: 'domain', status: 'pending', isExplained: false },
    { kind: 'export', status: 'paused', isExplained: true },
    { kind: 'file', status: 'false', isExplained: false },
    { kind: 'webhook', status: 'paused', isExplained: true },
  ])
})

test('rights, states and ids of others that a file names have no effect', async () => {
  const { id, lines } = await newFile()
  const before = await rowsWithout(target.db, id)
  const [contact] = await target.db<{ id: string }>`select id from contacts where organization_id <> ${id}`
  const row = {
    ...{ is_operator: true, self_registered: false, created_at: '2020-01-01T00:00:00Z', deleted_at: null },
    ...{ default_sender_name: 'Victim', default_sender_email: 'ceo@victim.example' },
  }
  let accepted = change(lines, 'organizations', row)
  const domain = {
    ...{ name: 'victim.example', status: 'verified', verified_at: '2026-01-01T00:00:00Z' },
    ...{ next_check_at: '9999-01-01T00:00:00Z', created_at: '9999-01-01T00:00:00Z' },
    ...{ ownership_token: 'published by the victim', selector: 'victim', dkim_public_key: 'published by the victim' },
    ...{ dkim_key: '\\x00', next_selector: 'next', next_dkim_public_key: 'next', next_dkim_key: '\\x00' },
    ...{ checks: { dkim: { status: 'ok', found: null, detail: null } }, checked_at: '2026-01-01T00:00:00Z' },
    ...{ uses_tracking_host: true, uses_return_path: true },
  }
  accepted = change(accepted, 'domains', domain)
  // As version 0.2.0 exported them.
  const [domainId, userId] = [firstRow(accepted, 'domains').id, firstRow(accepted, 'users').id]
  accepted = withRow(accepted, 'verified_domains', {
    ...{ name: 'victim.example', organization_id: id, domain_id: domainId },
  })
  accepted = withRow(accepted, 'sending_limit_uses', {
    ...{ organization_id: id, key: 'day', day: '2026-01-01', days: 9, used: -1e9, next_at: '2026-01-01T00:00:00Z' },
  })
  accepted = withRow(accepted, 'invitations', {
    ...{ organization_id: id, id: randomUUID(), email: 'eve@example.com', role: 'owner', token_hash: '\\x00' },
    ...{ created_at: '2026-01-01T00:00:00Z', expires_at: '9999-01-01T00:00:00Z', invited_by: userId },
  })
  for (const [table, changed] of [
    ['api_keys', { is_held: false }],
    ['webhooks', { status: 'active', secret: 'known' }],
    ['messages', { status: 'queued' }],
    ['contacts', { id: contact!.id }],
  ] as const)
    accepted = change(accepted, table, changed)
  const path = newPath()
  writeFileSync(path, `${accepted.join('\n')}\n`)
  expect(await importInto(target.db, path)).toMatchObject({ isNew: true })
  expect(await rowsWithout(target.db, id)).toEqual(before)
  const [organization] = await target.db`
    select is_operator, self_registered, created_at > now() - interval '1 hour' as is_new
    from organizations where id = ${id}`
  expect(organization).toEqual({ isOperator: false, selfRegistered: true, isNew: true })
  const states = await target.db`
    select status from webhooks where organization_id = ${id}
    union select case when is_held then 'held' end from api_keys where organization_id = ${id}
    union select status from messages where organization_id = ${id} and status = 'queued'
    order by 1`
  expect(states).toEqual([{ status: 'held' }, { status: 'paused' }])
  for (const table of ['verified_domains', 'sending_limit_uses', 'invitations'])
    expect(await target.db.run({ text: `select from ${table} where organization_id = $1`, values: [id] })).toEqual([])
  const [sender] = await target.db`
    select default_sender_name, default_sender_email from organizations where id = ${id}`
  expect(sender).toEqual({ defaultSenderName: null, defaultSenderEmail: null })
  const domains = await target.db<{ ownershipToken: string; selector: string; dkimKey: Buffer; dkimPublicKey: string }>`
    select name, status, verified_at, checked_at, checks, next_selector, next_dkim_key, next_dkim_public_key,
      uses_tracking_host, uses_return_path, next_check_at <= now() as is_due, created_at <= now() as is_created,
      ownership_token, selector, dkim_key, dkim_public_key
    from domains where organization_id = ${id}`
  const { ownershipToken, selector, dkimKey, dkimPublicKey, ...state } = domains.find(
    (each) => 'name' in each && each.name === 'victim.example',
  )!
  expect(state).toEqual({
    ...{ name: 'victim.example', status: 'pending', verifiedAt: null, checkedAt: null, checks: {} },
    ...{ nextSelector: null, nextDkimKey: null, nextDkimPublicKey: null },
    ...{ usesTrackingHost: false, usesReturnPath: false, isDue: true, isCreated: true },
  })
  expect([ownershipToken, selector]).toEqual([
    expect.stringMatching(/^[0-9a-f]{32}$/),
    expect.stringMatching(/^wax[0-9a-f]{8}$/),
  ])
  const privateKey = createPrivateKey(domainKeyBox(secrets).open(dkimKey)!)
  const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'der' })
  expect(publicKey.toString('base64')).toBe(dkimPublicKey)
  expect(new Set(domains.map((each) => each.ownershipToken)).size).toBe(domains.length)
})
