import { expect, test } from 'vitest'
import { startTestApp } from '../test/support/test-app.ts'

test('starting the service opens few of the connections of its pool', async () => {
  await using app = await startTestApp()
  const [opened] = await app.db<{ count: number }>`
    select count(*)::int from pg_stat_activity where datname = current_database() and backend_type = 'client backend'`
  expect(opened!.count).toBeLessThanOrEqual(app.db.pool.options.max / 2)
})
