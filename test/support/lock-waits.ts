import type { Reader } from '../../src/platform/db/db.ts'

/** Returns the statements that wait for a lock in the database of the test, on every node if its tables are distributed. */
export async function lockWaits(db: Reader): Promise<string[]> {
  const rows = db.isDistributed
    ? await db<{ query: string }>`
        select query from citus_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    : await db<{ query: string }>`
        select query from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  return rows.map(({ query }) => query)
}

/** Terminates the sessions whose statement contains `text` and waits for a lock. Returns how many. */
export async function terminateLockWaits(db: Reader, text: string): Promise<number> {
  const pattern = `%${text}%`
  // The session that the service uses waits for a node, and only the session on that node waits for the lock.
  const rows = db.isDistributed
    ? await db`
        select pg_terminate_backend(waiting_gpid) from citus_lock_waits where blocked_statement like ${pattern}`
    : await db`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like ${pattern}`
  return rows.length
}
