import { setTimeout as sleep } from 'node:timers/promises'
import type { Db, Tx } from './db.ts'

const advisoryLock = 7_249_316
const lockPollMs = 100
/** Migrations of large tables may exceed the usual statement timeout. */
const unlimited = { unlimited: true }

/**
 * Runs `work` while no other process changes the schema. `work` may use other connections, however long that takes: the
 * transaction holds the lock until then.
 *
 * Waiting inside the database would block the process that holds the lock: a statement that waits holds a snapshot, and
 * an index that is built concurrently waits for all older snapshots.
 */
export async function withMigrationLock<Result>(db: Db, work: (tx: Tx) => Promise<Result>): Promise<Result> {
  for (;;) {
    const run = await db.begin(async (tx) => {
      const [lock] = await tx<{ isLocked: boolean }>`
        select pg_try_advisory_xact_lock(${advisoryLock}) as is_locked,
          set_config('idle_in_transaction_session_timeout', '0', true)`
      if (!lock!.isLocked) return undefined
      return { result: await work(tx) }
    }, unlimited)
    if (run) return run.result
    await sleep(lockPollMs)
  }
}
