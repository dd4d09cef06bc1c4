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
