import { afterEach, expect, test, vi } from 'vitest'
import { createTestDb } from '../../../test/support/test-db.ts'
import { type Db, openDb, type Tx } from './db.ts'

afterEach(() => void vi.useRealTimers())

const few = 20
const many = 21

async function openOneConnection() {
  const testDb = await createTestDb()
  const db = openDb({ connection: testDb.connection, connectionsMax: 1 })
  return {
    db,
    [Symbol.asyncDispose]: async () => {
      await db.close()
      await testDb[Symbol.asyncDispose]()
    },
  }
}

/** The table is vacuumed while it is empty, so that the planner expects to read it with one step. */
async function createEmptyTable(db: Db): Promise<void> {
  await db.statement.script('create table things (id int primary key) with (autovacuum_enabled = off)')
  await using session = await db.openSession()
  await session.client.query('vacuum analyze things')
}

const fill = (db: Db) => db.statement`insert into things select generate_series(1, 10000)`

/** Returns how a transaction about so many rows finds a row. */
function scanOf(db: Db, rows: number): Promise<'whole table' | 'index'> {
  // Includes earlier transactions that are not in the statistics yet.
  const countScans = async (tx: Tx) => {
    const [row] = await tx<{ seqScan: number }>`
      select seq_scan from pg_stat_xact_user_tables where relname = 'things'`
    return row!.seqScan
  }
  const work = async (tx: Tx) => {
    const before = await countScans(tx)
    await tx`select from unnest(${[5]}::int[]) as key (id) join things using (id)`
    return (await countScans(tx)) > before ? ('whole table' as const) : ('index' as const)
  }
  return db.begin(work, { rows })
}

test('transactions about few rows keep their plans, but not for long', async () => {
  await using opened = await openOneConnection()
  const { db } = opened
  await createEmptyTable(db)
  vi.useFakeTimers({ toFake: ['performance'] })
  expect(await scanOf(db, few)).toBe('whole table')
  await fill(db)
  vi.advanceTimersByTime(4_900)
  expect(await scanOf(db, few)).toBe('whole table')
  vi.advanceTimersByTime(200)
  expect(await scanOf(db, few)).toBe('index')
})

test('transactions about many rows are planned for the tables as they are', async () => {
  await using opened = await openOneConnection()
  const { db } = opened
  await createEmptyTable(db)
  expect(await scanOf(db, many)).toBe('whole table')
  await fill(db)
  expect(await scanOf(db, many)).toBe('index')
})

test('single statements about few rows keep their plans, others do not', async () => {
  await using opened = await openOneConnection()
  const { db } = opened
  const preparedTexts = async () => {
    const rows = await db<{ statement: string }>`select statement from pg_prepared_statements order by statement`
    return rows.map(({ statement }) => statement)
  }
  await db`select 1`
  await db.forRows(many)`select 2`
  expect(await preparedTexts()).toEqual([])
  await db.forRows(few)`select 3`
  await db.forRows(few)`select 3`
  expect(await preparedTexts()).toEqual(['select 3'])
})

test('on a distributed database no plans are kept', async () => {
  await using opened = await openOneConnection()
  const { db } = opened
  db.isDistributed = true
  await db.forRows(few)`select 1`
  await db.begin((tx) => tx`select 2`, { rows: few })
  expect(await db`select from pg_prepared_statements`).toEqual([])
})
