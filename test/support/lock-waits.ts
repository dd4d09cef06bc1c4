import type { Reader } from '../../src/db/db.ts'

/** Returns the statements that wait for a lock in the database of the test, on every node if its tables are distributed. */
export async function lockWaits(db: Reader): Promise<string[]> {
  const rows = db.isDistributed
    ? await db<{ query: string }>`
        select query from citus_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    : await db<{ query: string }>`
        select query from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  return rows.map(({ query }) => query)
}
