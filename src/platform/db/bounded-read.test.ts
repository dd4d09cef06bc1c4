import { expect, test } from 'vitest'
import { createTestDb } from '../../../test/support/test-db.ts'
import { Stage } from '../runtime/stage.ts'
import { newId } from '../values/ids.ts'
import { createBoundedRead } from './bounded-read.ts'

test('cancels a read that takes too long, and the connection keeps its default timeout', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const stage = new Stage({ perOrganization: 1, overall: 1, waitingPerOrganization: 5, waitMs: 60_000 })
  const read = createBoundedRead(db, stage, { timeoutMs: 50 })
  const organizationId = newId('org')
  const startedAt = performance.now()
  await expect(read(organizationId, (tx) => tx`select pg_sleep(60)`)).rejects.toMatchObject({
    type: 'unavailable',
    message: expect.stringContaining('took too long'),
  })
  // The connection's own limit would stop it, too, but after half a minute.
  expect(performance.now() - startedAt).toBeLessThan(15_000)
  const [row] = await createBoundedRead(db, stage)(organizationId, (tx) => tx<{ n: number }>`select 1 as n`)
  expect(row).toEqual({ n: 1 })
  const timeouts = await Promise.all(
    Array.from({ length: 10 }, () => db<{ value: string }>`select current_setting('statement_timeout') as value`),
  )
  expect(timeouts.flat().filter(({ value }) => value === '50ms')).toEqual([])
})
