import { expect, test } from 'vitest'
import { startStartupRecorder } from '../../../test/support/startup-recorder.ts'
import { createTestDb } from '../../../test/support/test-db.ts'
import { until } from '../../../test/support/until.ts'
import { type Connection, openDb, type Reader } from './db.ts'
import { migrate } from './migrate.ts'
import { isPooled } from './session.ts'

// `npm run test:pgbouncer` runs the tests of the service through a real PgBouncer.

/** What PgBouncer accepts with its default settings, in the packet itself and inside `options`. */
const acceptedParameters = ['user', 'database', 'client_encoding', 'application_name', 'options']
const acceptedOptions = ['DateStyle', 'IntervalStyle', 'TimeZone']

test('connections start with no parameter that PgBouncer rejects', async () => {
  await using testDb = await createTestDb()
  await using recorder = await startStartupRecorder(testDb)
  const db = openDb({ connection: recorder.connection })
  try {
    await db`select 1`
    const listening = await db.listen('news', () => {})
    await listening.stop()
    await using session = await db.openSession()
    await session.client.query('select 1')
  } finally {
    await db.close()
  }
  expect(recorder.startups).toHaveLength(3)
  for (const startup of recorder.startups) {
    expect(Object.keys(startup).filter((name) => !acceptedParameters.includes(name))).toEqual([])
    const options = [...startup.options!.matchAll(/-c (\w+)=/g)].map((match) => match[1]!)
    expect(options.filter((name) => !acceptedOptions.includes(name))).toEqual([])
  }
})

test('settings apply to one statement or transaction, and not to the connection', async () => {
  await using testDb = await createTestDb()
  const db = openDb({ connection: testDb.connection, connectionsMax: 1, statementTimeoutMs: 7_000 })
  const names = ['statement_timeout', 'idle_in_transaction_session_timeout', 'jit']
  const valuesIn = async (reader: Reader) => {
    const rows = await reader<{ value: string }>`
      select current_setting(name) as value from unnest(${names}::text[]) as name`
    return rows.map(({ value }) => value)
  }
  try {
    const { rows } = await db.pool.query('select pg_backend_pid() as pid')
    const own = ['7s', '30s', 'off']
    expect(await valuesIn(db)).toEqual(own)
    expect(await db.begin(valuesIn)).toEqual(own)
    expect(await db.begin(valuesIn, { statementTimeoutMs: 50 })).toEqual(['50ms', '30s', 'off'])
    expect(await db.begin(valuesIn, { unlimited: true })).toEqual(['0', '30s', 'off'])
    const after = await db.pool.query(`select current_setting('statement_timeout') as value, pg_backend_pid() as pid`)
    expect(after.rows).toEqual([{ value: '0', pid: rows[0].pid }])
  } finally {
    await db.close()
  }
})

test('a single statement that fails leaves no transaction behind', async () => {
  await using testDb = await createTestDb()
  const db = openDb({ connection: testDb.connection, connectionsMax: 1 })
  try {
    await db.statement.script('create table numbers (n integer primary key)')
    const insert = () => db.statement`insert into numbers (n) values (1) returning n`
    expect(await insert()).toEqual([{ n: 1 }])
    await expect(insert()).rejects.toMatchObject({ code: '23505' })
    expect(await db`select n from numbers`).toEqual([{ n: 1 }])
    expect(await testDb.db`select n from numbers`).toEqual([{ n: 1 }])
  } finally {
    await db.close()
  }
})

test('notifications, sessions and migrations use the direct address', async () => {
  await using testDb = await createTestDb({ empty: true })
  await using recorder = await startStartupRecorder(testDb)
  const db = openDb({ connection: recorder.connection, direct: testDb.connection })
  try {
    let heard = ''
    const listening = await db.listen('news', (payload) => {
      heard = payload
    })
    await using session = await db.openSession()
    await migrate(db, [{ number: 1, name: '0001_things', text: 'create table things (id int)' }])
    await session.client.query('select from things')
    expect(recorder.startups).toEqual([])
    await db`select pg_notify('news', 'through the pooler')`
    await until('the notification', () => heard === 'through the pooler')
    expect(recorder.startups).toHaveLength(1)
    await listening.stop()
  } finally {
    await db.close()
  }
})

test('a session has no timeouts, except through a pooler, where the setting would reach other clients', async () => {
  await using testDb = await createTestDb()
  const { database } = testDb.connection as { database: string }
  await testDb.db.statement.script(`alter database ${database} set statement_timeout = '7s'`)
  await using pooler = await startStartupRecorder(testDb, { asPooler: true })
  const timeoutAt = async (connection: Connection) => {
    const db = openDb({ connection })
    await using session = await db.openSession()
    const { rows } = await session.client.query('show statement_timeout')
    await db.close()
    return [await isPooled(session.client), rows[0].statement_timeout]
  }
  expect(await timeoutAt(testDb.connection)).toEqual([false, '0'])
  expect(await timeoutAt(pooler.connection)).toEqual([true, '7s'])
})
