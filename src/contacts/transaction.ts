import type { Db, Tx } from '../db/db.ts'
import { retrying } from '../db/retrying.ts'

const triesMax = 5

/**
 * A transaction that is tried again when PostgreSQL gave it up for the sake of others: one that edits a contact and one
 * that adds ten thousand may want each other's rows. `work` must change nothing but the database.
 */
export const inTransaction = <Result>(db: Db, work: (tx: Tx) => Promise<Result>): Promise<Result> =>
  retrying(triesMax, () => db.begin(work))
