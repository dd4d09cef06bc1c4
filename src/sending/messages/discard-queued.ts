import type { Db } from '../../platform/db/db.ts'
import { failQueuedMessages } from './discard-queued.sql.ts'

const reason = 'Discarded by the operator while sending was paused'

/**
 * Marks emails that were queued before this time as failed, so that they are not sent, and returns how many. Emails
 * that are scheduled for later are kept. Must be called while sending is paused.
 */
export const discardQueuedMessages = (db: Db, before: Date): Promise<number> =>
  db.begin((tx) => failQueuedMessages(tx, before, reason), { unlimited: true })
