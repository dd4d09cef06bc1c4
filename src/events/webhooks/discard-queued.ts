import type { Db } from '../../platform/db/db.ts'
import { failQueuedDeliveries } from './discard-queued.sql.ts'

const reason = 'Discarded by the operator while sending was paused'

/**
 * Marks deliveries that were created before this time and are still pending as failed, and returns how many. They can be
 * replayed. Must be called while sending is paused.
 */
export const discardQueuedDeliveries = (db: Db, before: Date): Promise<number> =>
  db.begin((tx) => failQueuedDeliveries(tx, before, reason), { unlimited: true })
