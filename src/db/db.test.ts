import { expect, test } from 'vitest'
import { createTestDb } from '../../test/support/test-db.ts'
import { openDb } from './db.ts'

test('a statement that takes too long is ended, but not in a patient transaction', async () => {
  await using testDb = await createTestDb()
  const db = openDb({ connection: testDb.connection, statementTimeoutMs: 200 })
  try {
    await expect(db`select pg_sleep(1)`).rejects.toThrow(/timeout/)
    await expect(db.begin((tx) => tx`select pg_sleep(1)`)).rejects.toThrow(/timeout/)
    const slept = await db.begin(
      async (tx) => {
        await tx.script('select pg_sleep(0.5)')
        return tx<{ done: boolean }>`select pg_sleep(0.5) is not null as done`
      },
      { patient: true },
    )
    expect(slept).toEqual([{ done: true }])
    // The next user of the connection has the usual limit again.
    await expect(db`select pg_sleep(1)`).rejects.toThrow(/timeout/)
  } finally {
    await db.close()
  }
})

test('times mean the same whatever the database says about their form', async () => {
  await using testDb = await createTestDb()
  const { database } = testDb.connection as { database: string }
  await testDb.db.alone.script(`
    alter database ${database} set datestyle = 'SQL, DMY';
    alter database ${database} set intervalstyle = 'iso_8601';
    alter database ${database} set timezone = 'America/New_York'`)
  const db = openDb({ connection: testDb.connection })
  try {
    const at = new Date('2026-03-04T05:06:07.890Z')
    // A day later in New York it is summer, and an hour is missing.
    const [row] = await db<{ at: Date; nextDay: Date; length: string }>`
      select ${at}::timestamptz as at, '2026-03-07T12:00:00Z'::timestamptz + interval '1 day' as next_day,
        (interval '90 minutes')::text as length`
    expect(row).toEqual({ at, nextDay: new Date('2026-03-08T12:00:00Z'), length: '01:30:00' })
  } finally {
    await db.close()
  }
})
