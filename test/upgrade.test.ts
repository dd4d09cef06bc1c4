import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { exportOrganization } from '../src/operations/backup/export-organization.ts'
import { importOrganization, oldestSchema } from '../src/operations/backup/import-organization.ts'
import { emptyTables, exportedValues } from '../src/operations/backup/organization-tables.ts'
import { noProgress } from '../src/operations/backup/progress.ts'
import { restore } from '../src/operations/backup/restore.ts'
import { openDb } from '../src/platform/db/db.ts'
import { isMigrated, type Migration, migrate, readMigrations } from '../src/platform/db/migrate.ts'
import { readReleases, releaseSecret } from './releases/releases.ts'
import { newFolder, startCommand } from './support/command.ts'
import { startService } from './support/service.ts'
import { callUrl } from './support/test-app.ts'
import { createTestDb, type TestDb } from './support/test-db.ts'

const releases = readReleases()

/** A database as the release left it, without newer migrations. */
function restoreRelease(database: TestDb, { backup, migrations }: (typeof releases)[number]) {
  const numbers = new Set(migrations.map(({ number }) => number))
  return restoreInto(
    database,
    backup,
    readMigrations().filter(({ number }) => numbers.has(number)),
  )
}

async function restoreInto(database: TestDb, backup: string, migrations: Migration[]) {
  using folder = newFolder()
  const db = openDb({ connection: database.connection, applicationName: 'waxwing restore' })
  try {
    return await restore(backup, {
      db,
      replace: false,
      pause: false,
      secretPlace: undefined,
      dataDir: folder.path,
      progress: noProgress,
      migrations,
    })
  } finally {
    await db.close()
  }
}

const countRows = async ({ db }: TestDb, tables: string[]) => {
  const counts: Record<string, number> = {}
  for (const table of tables) {
    const [row] = await db.run<{ count: number }>({ text: `select count(*) from ${table}`, values: [] })
    counts[table] = row!.count
  }
  return counts
}

async function tablesOf({ db }: TestDb): Promise<string[]> {
  const rows = await db<{ name: string }>`
    select tablename as name from pg_tables where schemaname = 'public' and tablename <> 'schema_migrations'`
  return rows.map(({ name }) => name)
}

test('there is a fixture of each released version', () => {
  const titles = readFileSync('CHANGELOG.md', 'utf8').matchAll(/^## ([\d.]+) \(/gm)
  const released = [...titles].map(([, number]) => number!)
  expect(releases.map((release) => release.version).toSorted()).toEqual(released.toSorted())
})

test.for(releases)('the migrations of $version were not changed after its release', ({ migrations }) => {
  const now = new Map(readMigrations().map(({ name, text }) => [name, createHash('sha256').update(text).digest('hex')]))
  expect(migrations.filter(({ name, sha256 }) => now.get(name) !== sha256)).toEqual([])
})

test('the documented commands of an upgrade work on a database of 0.1.0, with the settings in a file', async () => {
  const guide = readFileSync('docs/guides/upgrading.md', 'utf8')
  const release = releases.find(({ version }) => version === '0.1.0')!
  await using database = await createTestDb({ empty: true })
  await restoreRelease(database, release)
  using folder = newFolder()
  const file = join(folder.path, 'waxwing.env')
  writeFileSync(file, `DATABASE_URL="${database.url}"\nAPP_SECRET=${releaseSecret}\nDATA_DIR=${folder.path}\n`)
  const run = async (name: string) => {
    expect(guide).toContain(`waxwing ${name === 'migrate' ? '-- ' : ''}${name}`)
    await using command = startCommand([name, '--env-file', file], {}, { cwd: folder.path })
    return await command.ended
  }
  const pending = await run('doctor')
  expect(pending.stdout).toMatch(/^ok {3}Database .*migrations pending until the next start$/m)
  expect(await run('migrate')).toMatchObject({ code: 0, stdout: expect.stringContaining('0051_flow_drafts') })
  expect((await run('rebuild-counters')).stdout).toMatch(/counters .*\nDatabase: postgres:/)
  const done = await run('doctor')
  expect(done).toMatchObject({ code: 0, stdout: expect.stringMatching(/^ok {3}Database .*, migrated$/m) })
  expect(done.stdout).toMatch(/^ok {3}Secret {6}matches the database$/m)
})

test.for(releases)(
  'a database of $version is upgraded with all of its rows, and the service works on it',
  async (release) => {
    await using database = await createTestDb({ empty: true })
    const { rows } = await restoreRelease(database, release)
    expect(rows).toBe(release.rows)
    const before = await countRows(database, await tablesOf(database))
    expect(Object.entries(before).filter(([name, count]) => count === 0 && !name.startsWith('events_'))).toEqual([])

    await migrate(database.db)

    expect(await isMigrated(database.db)).toBe(true)
    expect(await countRows(database, Object.keys(before))).toEqual(before)
    await using service = await startService('serve', { DATABASE_URL: database.url, APP_SECRET: releaseSecret })
    const login = await callUrl('POST', `${service.url}/api/v1/auth/login`, {
      body: { email: 'owner@acme.example', password: 'correct horse battery' },
    })
    expect(login.status).toBe(200)
    const headers = { authorization: `Bearer ${login.body.data.token}` }
    const list = async (name: string) =>
      (await callUrl('GET', `${service.url}/api/v1/organization/${name}`, { headers })).body.data
    expect((await list('contacts?query=ada'))[0]).toMatchObject({ email: 'ada@example.com', status: 'unsubscribed' })
    expect(await list('messages')).toHaveLength(3)
    for (const name of ['flows', 'groups', 'webhooks', 'api-keys', 'imports', 'suppressions', 'members', 'invitations'])
      expect((await list(name)).length, name).toBeGreaterThan(0)
  },
)

test.for(releases)('a backup of $version is restored with all of its rows, and migrated', async (release) => {
  await using database = await createTestDb({ empty: true })
  const { rows, migrated } = await restoreInto(database, release.backup, readMigrations())
  expect([rows, migrated.length]).toEqual([release.rows, readMigrations().length - release.migrations.length])
  expect(await isMigrated(database.db)).toBe(true)
})

/** The rows of an export by table, without the values that are replaced. */
function rowsOf(path: string) {
  const rows: Record<string, Record<string, unknown>[]> = {}
  let table = ''
  for (const line of readFileSync(path, 'utf8').trimEnd().split('\n').slice(1, -1)) {
    const row = JSON.parse(line)
    if (row.table && row.columns) table = row.table
    const replaced = Object.keys(exportedValues[table] ?? {})
    rows[table] ??= []
    if (!row.columns && !emptyTables.has(table))
      rows[table]!.push(Object.fromEntries(Object.entries(row).filter(([column]) => !replaced.includes(column))))
  }
  return rows
}

test('each release that can export organizations has an export, and the oldest one is accepted', () => {
  const exporting = releases.filter(({ migrations }) => migrations.at(-1)!.number >= oldestSchema)
  expect(exporting[0]!.migrations.at(-1)!.number).toBe(oldestSchema)
  expect(exporting).toEqual(releases.filter(({ organization }) => organization !== undefined))
})

test.for(releases.filter(({ organization }) => organization !== undefined))(
  'an organization that was exported by $version is imported with all of its rows',
  async ({ organization }) => {
    await using database = await createTestDb()
    using folder = newFolder()
    const { db } = database
    const secrets = { current: 'the secret of the installation that imports', previous: undefined }
    const { organizationId, isNew } = await importOrganization(organization!, { db, secrets, progress: noProgress })
    expect(isNew).toBe(true)
    const again = join(folder.path, 'again.jsonl')
    await exportOrganization(again, { db, organizationId, waxwing: 'now', progress: noProgress })
    const [before, after] = [rowsOf(organization!), rowsOf(again)]
    expect(Object.keys(before).length).toBeGreaterThan(40)
    expect(after).toMatchObject(before)
    expect(before.contacts).toContainEqual(expect.objectContaining({ email: 'ada@example.com' }))
  },
)

test.for(releases)(
  'processes of $version can run beside this version: their statements are still valid',
  async ({ statements }) => {
    await using database = await createTestDb()
    const wrong: string[] = []
    await database.db.begin(async (tx) => {
      for (const [index, text] of statements.entries()) {
        await tx.script(`savepoint before; prepare old_${index} as ${text}`).catch(async (error: Error) => {
          await tx.script('rollback to before')
          wrong.push(`${error.message}: ${text}`)
        })
      }
    })
    expect(statements.length).toBeGreaterThan(100)
    expect(wrong).toEqual([])
  },
)
