import type { Db } from '../db/db.ts'
import { deleteOldKeys } from './accept.sql.ts'
import { trimInbox } from './send.sql.ts'

const keysPerBatch = 5_000
const inboxMailsMax = 1_000

/** Forgets idempotency keys a day after their call, in batches. */
export async function forgetOldKeys(db: Db): Promise<void> {
  while ((await deleteOldKeys(db.alone, keysPerBatch)) === keysPerBatch);
}

/** Keeps the newest mails of each organization's inbox: it is for looking, not an archive. */
export const keepInboxSmall = (db: Db): Promise<void> => trimInbox(db, inboxMailsMax)
