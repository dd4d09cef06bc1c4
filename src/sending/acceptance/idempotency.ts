import type { Db } from '../../platform/db/db.ts'
import { deleteOldKeys } from './accept.sql.ts'

const keysPerBatch = 5_000

/** Deletes idempotency keys a day after their request, in batches. */
export async function deleteExpiredKeys(db: Db): Promise<void> {
  while ((await deleteOldKeys(db.statement, keysPerBatch)) === keysPerBatch);
}
