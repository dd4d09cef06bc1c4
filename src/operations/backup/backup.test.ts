import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, expect, test } from 'vitest'
import { fillTables } from '../../../test/support/fill-tables.ts'
import { oneServerTest } from '../../../test/support/server-tests.ts'
import { createTestDb, type TestDb } from '../../../test/support/test-db.ts'
import { until } from '../../../test/support/until.ts'
import { ensurePartitions } from '../../events/recording/partitions.ts'
import { type Db, openDb } from '../../platform/db/db.ts'
import { isMigrated, migrate, readMigrations } from '../../platform/db/migrate.ts'
import { SetupFault } from '../../platform/values/errors.ts'
import { readArchive, writeArchive } from './archive.ts'
import { backUp } from './backup.ts'
import { noProgress } from './progress.ts'
import { type RestoreOptions, restore } from './restore.ts'

const folder = mkdtempSync(join(tmpdir(), 'waxwing-backup-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let count = 0
const newPath = () => join(folder, `path-${count++}`)
const secret = 'the secret with which the backup was made'

const fullDisk = {
  begin: () => {},
  advance: () => {
    throw new Error('the disk is full')
  },
}

async function backUpTo(path: string, db: Db, dataDir = newPath()) {
  return backUp(path, {
    db,
    secrets: { current: secret, previous: undefined },
    dataDir,
    waxwing: '0.1.0',
    progress: noProgress,
  })
}

/** Restores like the command does, in a connection that does not look like a running service. */
async function restoreFrom(path: string, target: TestDb, options: Partial<RestoreOptions> = {}) {
  const db = openDb({ connection: target.connection, applicationName: 'waxwing restore' })
  try {
    return await restore(path, {
      db,
      replace: false,
      pause: false,
      secretPlace: undefined,
      dataDir: newPath(),
      progress: noProgress,
      ...options,
    })
  } finally {
    await db.close()
  }
}

/** Every table with its rows as JSON, in order. */
async function contentOf(db: Db): Promise<Record<string, string[]>> {
  const tables = await db<{ name: string }>`
    select relname as name from pg_class
    where relkind = 'r' and relnamespace = 'public'::regnamespace and relname <> 'schema_migrations' order by 1`
  const content: Record<string, string[]> = {}
  for (const { name } of tables) {
    const rows = await db.run<{ row: string }>({
      text: `select to_jsonb(t)::text as row from ${name} t order by 1`,
      values: [],
    })
    content[name] = rows.map(({ row }) => row)
  }
  return content
}

/** Views of the extension and shards on the coordinator, which a backup does not contain. */
const ofCitus = /^citus_|_\d{6,}\b/

/** Without the names of the indexes of partitions: PostgreSQL chooses those of new partitions. */
const schemaOf = (db: Db) => db<{ line: string }>`
  select format('%s %s %s', table_name, column_name, data_type) as line from information_schema.columns
  where table_schema = 'public'
  union all select case when relispartition then replace(indexdef, ' ' || indexname || ' ', ' ') else indexdef end
    from pg_indexes join pg_class on pg_class.oid = format('%I', indexname)::regclass where schemaname = 'public'
  union all select conrelid::regclass || ' ' || pg_get_constraintdef(oid) from pg_constraint
    where connamespace = 'public'::regnamespace
  order by 1`

async function filledDb(): Promise<TestDb> {
  const database = await createTestDb()
  await ensurePartitions(database.db, new Date('2026-02-10'))
  await fillTables(database.db)
  // A restore ends the leases.
  await database.db.statement`update lanes set leased_until = '-infinity' where token is not null`
  return database
}

test('every row, partition, index and constraint is the same after a restore', async () => {
  await using source = await filledDb()
  await using target = await createTestDb({ empty: true })
  const path = newPath()
  const written = await backUpTo(path, source.db)
  const before = await contentOf(source.db)
  const result = await restoreFrom(path, target)

  expect(await contentOf(target.db)).toEqual(before)
  expect(await schemaOf(target.db)).toEqual((await schemaOf(source.db)).filter(({ line }) => !ofCitus.test(line)))
  const rows = Object.values(before).flat().length
  expect(rows).toBeGreaterThan(100)
  expect(written).toMatchObject({ rows, tables: Object.keys(before).length })
  expect(result).toMatchObject({ rows, migrated: [], waxwing: '0.1.0' })
  expect(Object.keys(before).filter((name) => name.startsWith('events_20'))).toHaveLength(4)
  expect(await isMigrated(target.db)).toBe(true)
})

test('identity columns continue after the restored rows', async () => {
  await using source = await filledDb()
  await using target = await createTestDb({ empty: true })
  const numbered = `create table numbered (organization_id uuid, number bigint generated always as identity,
    doubled bigint generated always as (number * 2) stored, primary key (organization_id, number))`
  const migrations = [...readMigrations(), { number: 9_000, name: '9000_numbered', text: numbered }]
  await migrate(source.db, migrations)
  const insert = (db: Db) =>
    db.statement<{ number: number; doubled: number }>`
      insert into numbered (organization_id) values (gen_random_uuid()) returning number, doubled`
  await insert(source.db)
  await insert(source.db)
  const path = newPath()
  await backUpTo(path, source.db)
  await restoreFrom(path, target, { migrations })
  expect(await insert(target.db)).toEqual([{ number: 3, doubled: 6 }])
})

test('a backup of an older schema is migrated', async () => {
  await using source = await createTestDb({ empty: true })
  await using target = await createTestDb({ empty: true })
  const old = readMigrations().filter(({ number }) => number < 41)
  await migrate(source.db, old)
  await fillTables(source.db)
  const path = newPath()
  await backUpTo(path, source.db)
  const result = await restoreFrom(path, target)
  expect(result.migrated[0]).toBe('0041_message_recipient')
  expect(await isMigrated(target.db)).toBe(true)
  const [row] = await target.db<{ lastName: string; lastNameKey: string }>`
    select last_name, last_name_key from contacts where last_name is not null limit 1`
  expect([row!.lastName.slice(0, 3), row!.lastNameKey.slice(0, 3)]).toEqual(['Zoë', 'Zoe'])
})

test('a backup of a newer schema is rejected, and nothing is changed', async () => {
  await using source = await filledDb()
  await using target = await createTestDb()
  await migrate(source.db, [...readMigrations(), { number: 9_000, name: '9000_future', text: 'select' }])
  const path = newPath()
  await backUpTo(path, source.db)
  await expect(restoreFrom(path, target)).rejects.toThrow('9000_future')
  expect(await schemaOf(target.db)).toEqual(
    await schemaOf(source.db).then((lines) => lines.filter(({ line }) => !line.includes('events_20'))),
  )
})

test('a database with an organization is replaced only on request, and is unchanged if that fails', async () => {
  await using source = await filledDb()
  await using target = await createTestDb()
  await target.db.statement`insert into organizations (id, name) values (gen_random_uuid(), 'Kept')`
  const before = await contentOf(target.db)
  const path = newPath()
  await backUpTo(path, source.db)
  await expect(restoreFrom(path, target)).rejects.toThrow('The database is not empty.')
  expect(await contentOf(target.db)).toEqual(before)

  await expect(restoreFrom(path, target, { replace: true, progress: fullDisk })).rejects.toThrow('the disk is full')
  expect(await contentOf(target.db)).toEqual(before)

  await restoreFrom(path, target, { replace: true })
  expect(await contentOf(target.db)).toEqual(await contentOf(source.db))
})

test('the tables of another program and a database in use are left alone', async () => {
  await using source = await filledDb()
  await using other = await createTestDb({ empty: true })
  await using used = await createTestDb()
  const path = newPath()
  await backUpTo(path, source.db)
  await other.db.statement.script('create table theirs (id int)')
  await expect(restoreFrom(path, other, { replace: true })).rejects.toThrow('another program')
  const service = openDb({ connection: used.connection })
  await service`select 1`
  await expect(restoreFrom(path, used, { replace: true })).rejects.toThrow('Stop all processes')
  await service.close()
})

test('the secret is stored in DATA_DIR, or must be the one in APP_SECRET', async () => {
  await using source = await filledDb()
  await using target = await createTestDb({ empty: true })
  const path = newPath()
  await backUpTo(path, source.db)
  const dataDir = newPath()
  mkdirSync(dataDir)
  writeFileSync(join(dataDir, 'secret'), 'the secret of a new installation')
  const place = { setting: undefined, previousSetting: undefined, dataDir }
  const other = { ...place, setting: 'another secret that has enough characters' }
  await expect(restoreFrom(path, target, { secretPlace: other })).rejects.toThrow('another APP_SECRET')
  expect(await contentOf(target.db)).toEqual({})

  await restoreFrom(path, target, { secretPlace: { ...other, previousSetting: secret } })
  expect(readdirSync(dataDir)).toEqual(['secret'])
  await restoreFrom(path, target, { secretPlace: place, replace: true })
  const files = readdirSync(dataDir)
  expect(readFileSync(join(dataDir, 'secret'), 'utf8').trim()).toBe(secret)
  expect(files.map((name) => name.replace(/\d+$/, ''))).toEqual(['secret', 'secret.before-restore-'])
})

test('nothing is changed while DATA_DIR cannot be written, and a failure after that says so', async () => {
  await using source = await filledDb()
  await using target = await createTestDb()
  const path = newPath()
  await backUpTo(path, source.db)
  const before = await contentOf(target.db)
  const file = newPath()
  writeFileSync(file, '')
  const placeIn = (dataDir: string) => ({ setting: undefined, previousSetting: undefined, dataDir })
  await expect(restoreFrom(path, target, { secretPlace: placeIn(file) })).rejects.toThrow(
    /^DATA_DIR cannot be written .* Nothing was changed\.$/,
  )
  expect(await contentOf(target.db)).toEqual(before)

  const dataDir = newPath()
  mkdirSync(dataDir)
  writeFileSync(join(dataDir, 'secret'), 'the secret of a new installation')
  const failing = restoreFrom(path, target, { secretPlace: placeIn(dataDir), progress: fullDisk })
  await expect(failing).rejects.toThrow('the disk is full')
  expect(readdirSync(dataDir)).toEqual(['secret'])
  const losing = { begin: () => {}, advance: () => rmSync(join(dataDir, 'secret.restored'), { force: true }) }
  await expect(restoreFrom(path, target, { secretPlace: placeIn(dataDir), progress: losing })).rejects.toThrow(
    /^The database is restored, but DATA_DIR cannot be written .* Restore the backup again with --replace\.$/,
  )
  await restoreFrom(path, target, { secretPlace: placeIn(dataDir), replace: true })
  expect(readFileSync(join(dataDir, 'secret'), 'utf8').trim()).toBe(secret)
})

type Files = { name: string; content: Buffer }[]

async function filesOf(path: string): Promise<Files> {
  const files: Files = []
  for await (const { name, content } of readArchive(path)) {
    const pieces: Buffer[] = []
    for await (const piece of content) pieces.push(piece)
    files.push({ name, content: Buffer.concat(pieces) })
  }
  return files
}

/** A backup whose files were changed. */
async function written(files: Files): Promise<string> {
  const path = newPath()
  await writeArchive(
    path,
    (async function* () {
      yield* files
    })(),
  )
  return path
}

/** Restores backups that are rejected with one sentence, and checks in the end that nothing was changed. */
async function expectRejected(backups: [path: string, problem: string][]): Promise<void> {
  await using target = await createTestDb()
  const dataDir = newPath()
  const secretPlace = { setting: undefined, previousSetting: undefined, dataDir }
  const before = await contentOf(target.db)
  for (const [path, problem] of backups) {
    const error: Error = await restoreFrom(path, target, { secretPlace, dataDir }).then(
      () => new Error('restored'),
      (each) => each,
    )
    expect(error).toBeInstanceOf(SetupFault)
    expect(error.message).toContain(`The backup is incomplete or damaged: ${problem}`)
    expect(error.message).toContain('Nothing was changed.')
  }
  expect(await contentOf(target.db)).toEqual(before)
  expect(existsSync(join(dataDir, 'secret'))).toBe(false)
}

const replaced = (files: Files, name: string, text: string) =>
  files.map((file) => (file.name === name ? { name, content: Buffer.from(text) } : file))

test('a backup with files that are cut, too large or of another shape is rejected', async () => {
  await using source = await filledDb()
  const path = newPath()
  await backUpTo(path, source.db)
  const files = await filesOf(path)
  const tar = gunzipSync(readFileSync(path))
  const cut = newPath()
  writeFileSync(cut, gzipSync(tar.subarray(0, tar.length / 2)))
  const backups: [string, string][] = [[cut, '']]
  const manifest = JSON.parse(String(files.find(({ name }) => name === 'manifest.json')!.content))
  const texts: [string, string[]][] = [
    ['secret.json', ['', 'null', '[', '{}', '{"current":1}', JSON.stringify({ current: 'x'.repeat(17_000_000) })]],
    [
      'manifest.json',
      [
        'null',
        '{',
        '{}',
        ...[{ tables: [null] }, { tables: 1 }, { migrations: ['1'] }, { partitions: [{}] }].map((change) =>
          JSON.stringify({ ...manifest, ...change }),
        ),
      ],
    ],
  ]
  for (const [name, each] of texts)
    for (const text of each) backups.push([await written(replaced(files, name, text)), name])
  await expectRejected(backups)
})

test('a backup that names tables, columns, partitions or sequences of others is rejected', async () => {
  await using source = await filledDb()
  const path = newPath()
  await backUpTo(path, source.db)
  const files = await filesOf(path)
  const manifest = JSON.parse(String(files.find(({ name }) => name === 'manifest.json')!.content))
  const edit = (change: object) => written(replaced(files, 'manifest.json', JSON.stringify({ ...manifest, ...change })))
  const [first, ...others] = manifest.tables
  const [partition] = manifest.partitions.filter(({ bound }: { bound: unknown }) => bound)
  await expectRejected([
    [
      await edit({ tables: [{ name: 'pg_authid', columns: ['rolname'] }, ...manifest.tables] }),
      'there is no table pg_authid',
    ],
    [await edit({ tables: [{ ...first, columns: [...first.columns, 'ctid'] }, ...others] }), 'there is no column ctid'],
    [await edit({ partitions: [{ ...partition, parent: 'users' }] }), 'there is no table users with partitions'],
    [await edit({ partitions: [{ ...partition, bound: { from: 'x', to: 'y' } }] }), ''],
    [await edit({ sequences: [{ name: 'pg_class', value: '1', isCalled: true }] }), 'there is no sequence pg_class'],
    [await written(replaced(files, 'tables/groups/000001', 'no row\n')), ''],
    [await written(replaced(files, 'end.json', 'null')), 'end.json'],
  ])
})

test('hits in the spool are backed up and restored, but not by a restore that fails', async () => {
  await using source = await filledDb()
  await using target = await createTestDb()
  const [from, to] = [newPath(), newPath()]
  mkdirSync(join(from, 'spool'), { recursive: true })
  writeFileSync(join(from, 'spool', 'a.jsonl'), '{"n":1}\n')
  writeFileSync(join(from, 'spool', 'b.replay'), '{"n":2}\n')
  writeFileSync(join(from, 'spool', 'README'), 'not a spool file')
  const path = newPath()
  await backUpTo(path, source.db, from)
  await expect(restoreFrom(path, target, { dataDir: to, progress: fullDisk })).rejects.toThrow('the disk is full')
  expect(readdirSync(join(to, 'spool'))).toEqual([])
  await restoreFrom(path, target, { dataDir: to })
  const files = readdirSync(join(to, 'spool'))
  expect(files.every((name) => name.endsWith('.jsonl'))).toBe(true)
  expect(files.map((name) => readFileSync(join(to, 'spool', name), 'utf8')).sort()).toEqual(['{"n":1}\n', '{"n":2}\n'])
})

// A cluster has no snapshot of all nodes.
oneServerTest(
  'rows that were committed together are restored together, and those from before the backup all are',
  async () => {
    await using source = await filledDb()
    await using target = await createTestDb({ empty: true })
    let committed = 0
    let isWriting = true
    const write = async () => {
      for (; isWriting; committed++)
        await source.db.statement.script(`
        insert into organizations (id, name) values (gen_random_uuid(), 'pair ${committed}');
        insert into groups (organization_id, id, name) select id, id, name from organizations where name = 'pair ${committed}'`)
    }
    const writing = write()
    await until('some rows', () => committed > 50)
    const before = committed
    const path = newPath()
    await backUpTo(path, source.db)
    isWriting = false
    await writing
    await restoreFrom(path, target)
    const names = async (table: string) =>
      (
        await target.db.run<{ name: string }>({
          text: `select name from ${table} where name like 'pair %' order by 1`,
          values: [],
        })
      ).map(({ name }) => name)
    const [organizations, groups] = [await names('organizations'), await names('groups')]
    expect(groups).toEqual(organizations)
    expect(organizations.length).toBeGreaterThanOrEqual(before)
    expect(organizations.length).toBeLessThan(committed)
  },
)
