import { expect, test } from 'vitest'
import { startTestApp } from '../test/support/test-app.ts'
import { until } from '../test/support/until.ts'

test('starting the service opens few of the connections of its pool', async () => {
  // On a busy machine, workers that look for jobs again while others still start open more of them.
  const opened = await until('a start with few connections', async () => {
    await using app = await startTestApp()
    const [found] = await app.db<{ count: number }>`
      select count(*)::int from pg_stat_activity where datname = current_database() and backend_type = 'client backend'`
    return found!.count <= 5 && found!.count
  })
  expect(opened).toBeGreaterThan(0)
})
