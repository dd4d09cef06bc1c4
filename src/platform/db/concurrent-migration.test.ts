import { expect, test } from 'vitest'
import { createTestDb, type TestDb } from '../../../test/support/test-db.ts'
import { until } from '../../../test/support/until.ts'
import { type Db, openDb } from './db.ts'
import { type Migration, migrate } from './migrate.ts'

const table: Migration = { number: 1, name: '0001_table', text: 'create table things (id int, name text)' }
const indexes: Migration = {
  number: 2,
  name: '0002_indexes',
  text: `-- no transaction
-- Two statements; this comment is not one.
create index concurrently things_by_name on things (name);

create unique index concurrently if not exists things_by_id
  on things (id);
`,
}

async function databaseWithThings(): Promise<TestDb> {
  const database = await createTestDb({ empty: true })
  await migrate(database.db, [table])
  await database.db.statement.script("insert into things select n, 'name ' || n from generate_series(1, 1000) n")
  return database
}

const indexStates = (db: Db) =>
  db<{ name: string; valid: boolean }>`
    select indexrelid::regclass::text as name, indisvalid as valid from pg_index
    where indrelid = 'things'::regclass order by 1`

const bothValid = [
  { name: 'things_by_id', valid: true },
  { name: 'things_by_name', valid: true },
]

/** Runs a migration that waits for an open transaction, and calls `work` while it waits. */
async function whileBuilding(db: Db, work: (building: Promise<string[]>) => Promise<void>): Promise<void> {
  await using writer = await db.openSession()
  await writer.client.query("begin; insert into things values (0, 'not committed')")
  const building = migrate(db, [table, indexes])
  building.catch(() => {})
  await until('the index to wait', async () => {
    const states = await indexStates(db)
    return states.some(({ valid }) => !valid)
  })
  await work(building)
}

test('tables can be written while their indexes are built', async () => {
  await using database = await databaseWithThings()
  const { db } = database
  await whileBuilding(db, async () => {
    await db.statement`insert into things values (1001, 'written while the index is built')`
  })
  await until('the indexes', async () => (await indexStates(db)).every(({ valid }) => valid))
  expect(await migrate(db, [table, indexes])).toEqual([])
  expect(await indexStates(db)).toEqual(bothValid)
})

test('an index that was not completed is built again', async () => {
  await using database = await databaseWithThings()
  const { db } = database
  await whileBuilding(db, async (building) => {
    await db`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and query like 'create index concurrently%' and pid <> pg_backend_pid()`
    await expect(building).rejects.toThrow('terminat')
  })
  expect(await indexStates(db)).toEqual([{ name: 'things_by_name', valid: false }])
  expect(await migrate(db, [table, indexes])).toEqual(['0002_indexes'])
  expect(await indexStates(db)).toEqual(bothValid)
})

test('the index of a partitioned table is built on each partition, also after an interruption', async () => {
  await using database = await createTestDb({ empty: true })
  const { db } = database
  const tables: Migration = {
    number: 1,
    name: '0001_tables',
    text: `create table things (id int, name text) partition by range (id);
      create table things_low partition of things for values from (0) to (100);
      create table things_default partition of things default`,
  }
  const index: Migration = {
    number: 2,
    name: '0002_index',
    text: '-- no transaction\ncreate index concurrently things_few on things (name)\n  include (id) where id < 50;\n',
  }
  await migrate(db, [tables])
  await db.statement`insert into things select number, 'thing' from generate_series(1, 1000) as number`
  // As if a process had been killed after the first partition.
  await db.statement.script(`
    create index things_few on only things (name) include (id) where id < 50;
    create index things_few_low on things_low (name) include (id) where id < 50;
    alter index things_few attach partition things_few_low`)
  expect(await migrate(db, [tables, index])).toEqual(['0002_index'])
  const states = await db`
    select indexrelid::regclass::text as name, indisvalid as valid from pg_index
    where indexrelid::regclass::text like 'things%' order by 1`
  expect(states).toEqual(['things_few', 'things_few_default', 'things_few_low'].map((name) => ({ name, valid: true })))
  // New partitions have it, too.
  await db.statement.script('create table things_more partition of things for values from (2000) to (3000)')
  const [more] = await db<{ count: number }>`select count(*) from pg_indexes where tablename = 'things_more'`
  expect(more!.count).toBe(1)
})

test('processes that start at the same time build the indexes once', async () => {
  await using database = await databaseWithThings()
  const nodes = Array.from({ length: 4 }, () => openDb({ connection: database.connection, connectionsMax: 2 }))
  try {
    const done = await Promise.all(nodes.map((db) => migrate(db, [table, indexes])))
    expect(done.flat()).toEqual(['0002_indexes'])
    expect(await indexStates(database.db)).toEqual(bothValid)
  } finally {
    await Promise.all(nodes.map((db) => db.close()))
  }
})

test('statements that cannot be repeated are rejected', async () => {
  await using database = await databaseWithThings()
  const text = '-- no transaction\nupdate things set id = id + 1;\n'
  await expect(migrate(database.db, [table, { number: 2, name: '0002_update', text }])).rejects.toThrow('update things')
  expect(await database.db`select from things where id = 1`).toHaveLength(1)
})
