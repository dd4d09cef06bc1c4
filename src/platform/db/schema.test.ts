import { expect, test } from 'vitest'
import { globalTables } from '../../../test/support/statement-rules.ts'
import { createTestDb } from '../../../test/support/test-db.ts'
import { openDb } from './db.ts'
import { migrate, readMigrations } from './migrate.ts'

test('the keys and unique indexes of every tenant table start with the organization', async () => {
  await using test = await createTestDb()
  const wrong = await test.db<{ table: string; index: string; leads: string }>`
    select c.relname as table, i.relname as index, a.attname as leads
    from pg_index x
    join pg_class c on c.oid = x.indrelid
    join pg_class i on i.oid = x.indexrelid
    join pg_namespace n on n.oid = c.relnamespace and n.nspname = 'public'
    left join pg_attribute a on a.attrelid = c.oid and a.attnum = x.indkey[0]
    where (x.indisunique or x.indisprimary)
      and c.relname <> all (${globalTables}::text[])
      and a.attname is distinct from 'organization_id'`
  expect(wrong).toEqual([])
})

test('every tenant table has a primary key and names its organization', async () => {
  await using test = await createTestDb()
  const wrong = await test.db<{ table: string }>`
    select c.relname as table
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace and n.nspname = 'public'
    where c.relkind in ('r', 'p') and c.relname <> all (${globalTables}::text[])
      and not exists (
        select from pg_index x
        join pg_attribute a on a.attrelid = c.oid and a.attnum = x.indkey[0] and a.attname = 'organization_id' and a.attnotnull
        where x.indrelid = c.oid and x.indisprimary)`
  expect(wrong).toEqual([])
})

test('every migration has its own number', () => {
  const numbers = readMigrations().map(({ number }) => number)
  expect(numbers).toEqual([...new Set(numbers)])
})

test('processes that start at the same time migrate an empty database once', async () => {
  await using test = await createTestDb({ empty: true })
  const nodes = Array.from({ length: 4 }, () => openDb({ connection: test.connection }))
  try {
    const done = await Promise.all(nodes.map((db) => migrate(db)))
    expect(done.flat().sort()).toEqual(readMigrations().map(({ name }) => name))
  } finally {
    await Promise.all(nodes.map((db) => db.close()))
  }
})

test('rejects a database that is newer than the code', async () => {
  await using test = await createTestDb()
  await test.db.statement`insert into schema_migrations (number, name) values (9999, 'from the future')`
  await expect(migrate(test.db)).rejects.toThrow('The database has migration 9999')
})

test('rolls back a migration that fails', async () => {
  await using test = await createTestDb({ empty: true })
  const broken = [{ number: 1, name: '0001_broken', text: 'create table half (id int); select nonsense' }]
  await expect(migrate(test.db, broken)).rejects.toThrow('nonsense')
  expect(await test.db`select from pg_tables where schemaname = 'public'`).toEqual([])
})
