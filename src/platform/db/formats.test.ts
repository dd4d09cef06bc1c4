import pg from 'pg'
import { expect, test } from 'vitest'
import { startTestApp } from '../../../test/support/test-app.ts'
import { createTestDb, type TestDb } from '../../../test/support/test-db.ts'
import { until } from '../../../test/support/until.ts'
import { openDb } from './db.ts'
import { checksMin, Formats } from './formats.ts'
import { migrate } from './migrate.ts'
import { newestMigration } from './newest-migration.ts'

/** A connection of another process. */
async function connectAs({ connection }: TestDb, name: string, statement = 'select 1') {
  const client = new pg.Client({ ...connection, application_name: name })
  await client.connect()
  await client.query(statement)
  return { [Symbol.asyncDispose]: () => client.end() }
}

const forget = ({ db }: TestDb) =>
  db.statement`update schema_migrations set known_by_all = number <> ${newestMigration}`

async function check(formats: Formats, times: number): Promise<boolean> {
  for (let check = 0; check < times; check++) await formats.check()
  return formats.mayWrite(newestMigration)
}

test('a new database has no older processes', async () => {
  await using testDb = await createTestDb({ empty: true })
  await migrate(testDb.db)
  const formats = new Formats(testDb.db)
  expect(formats.mayWrite(newestMigration)).toBe(false)
  await formats.load()
  expect(formats.mayWrite(newestMigration)).toBe(true)
})

test('formats of an upgrade are written after many checks in a row without an older process, for good', async () => {
  await using testDb = await createTestDb()
  await forget(testDb)
  const [formats, others] = [new Formats(testDb.db), new Formats(testDb.db)]
  expect(await check(formats, checksMin - 1)).toBe(false)
  expect(formats.mayWrite(1)).toBe(true)
  {
    await using _ = await connectAs(testDb, 'waxwing')
    expect(await check(formats, 1)).toBe(false)
  }
  expect(await check(formats, checksMin - 1)).toBe(false)
  expect(await check(others, 1)).toBe(false)
  expect(await check(formats, 1)).toBe(true)
  expect(await check(others, 1)).toBe(true)
})

test.for([
  ['waxwing', 'select 1'],
  ['waxwing sending', 'select 1'],
  ['waxwing (311)', 'select 1'],
  ['waxwing sending (311) - 10.0.0.7:45678', 'select 1'],
  ['named in DATABASE_URL', 'listen "waxwing_jobs"'],
])('a session called %s that ran %s may belong to an older process', async ([name, statement]) => {
  await using testDb = await createTestDb()
  await forget(testDb)
  await using _ = await connectAs(testDb, name!, statement)
  expect(await check(new Formats(testDb.db), checksMin)).toBe(false)
})

test('sessions of this version, of a newer one and of other programs are not in the way', async () => {
  await using testDb = await createTestDb()
  await forget(testDb)
  await using _this = await connectAs(testDb, `waxwing sending (${newestMigration})`)
  await using _newer = await connectAs(testDb, `waxwing (${newestMigration + 1})`)
  await using _other = await connectAs(testDb, 'psql')
  expect(await check(new Formats(testDb.db), checksMin)).toBe(true)
})

test('a name in the address of the database does not hide the version', async () => {
  await using testDb = await createTestDb()
  await forget(testDb)
  const db = openDb({ connection: { connectionString: `${testDb.url}&application_name=mail` } })
  try {
    expect(await check(new Formats(db), checksMin)).toBe(true)
  } finally {
    await db.close()
  }
})

test('a service notices that there is no older process', async () => {
  await using app = await startTestApp({}, ['serve'], {
    tuning: { formatCheckMs: 1 },
    openFor: async (testDb) => {
      await forget(testDb)
      return testDb.db
    },
  })
  await until('its check', async () => {
    const [row] = await app.db<{ isKnown: boolean }>`
      select known_by_all as is_known from schema_migrations where number = ${newestMigration}`
    return row!.isKnown
  })
})
