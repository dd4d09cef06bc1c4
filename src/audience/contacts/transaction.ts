import type { Db, Tx } from '../../platform/db/db.ts'
import { retrying } from '../../platform/db/retrying.ts'

export const triesMax = 5

/**
 * Runs a transaction and retries it after a deadlock or serialization failure: a transaction that edits a contact and
 * one that adds ten thousand may lock the same rows. `work` must have no effects outside the database.
 */
export const inTransaction = <Result>(db: Pick<Db, 'begin'>, work: (tx: Tx) => Promise<Result>): Promise<Result> =>
  retrying(triesMax, () => db.begin(work))
