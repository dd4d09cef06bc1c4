import type { Db } from '../../../platform/db/db.ts'
import { deleteExpiredSignatures } from './signatures.sql.ts'

/** Deletes expired signatures. Run hourly, it keeps the table limited to the last hours. */
export async function forgetExpiredSignatures(db: Db): Promise<void> {
  await deleteExpiredSignatures(db)
}
