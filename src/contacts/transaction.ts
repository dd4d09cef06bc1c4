import { type Db, isRetryable, type Tx } from '../db/db.ts'

const triesMax = 5

/**
 * A transaction that is tried again when PostgreSQL gave it up for the sake of others: one that edits a contact and one
 * that adds ten thousand may want each other's rows. `work` must change nothing but the database.
 */
export async function inTransaction<Result>(db: Db, work: (tx: Tx) => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await db.begin(work)
    } catch (error) {
      if (tries === triesMax || !isRetryable(error)) throw error
    }
  }
}
