import { inTransaction, resubscribe, unsubscribeByRecipient } from '../../audience/audience.ts'
import { recordEvents } from '../../events/events.ts'
import type { Db } from '../../platform/db/db.ts'
import type { ContactId, OrganizationId } from '../../platform/values/ids.ts'
import type { Unsubscription } from './entries.ts'
import { findRecipient } from './tracking.sql.ts'

/**
 * Unsubscribes the contact and records the event. Returns false, and changes nothing, if the contact had unsubscribed
 * before, or if this unsubscription was recorded before and may have been undone since: one that took both ways, through
 * the database and the spool.
 */
export async function recordUnsubscription(db: Db, { method, ip, ...event }: Unsubscription): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    if (!(await unsubscribeByRecipient(tx, event, ip))) return false
    const noMachine = { machine: false, machineReason: null }
    const { fresh } = await recordEvents(tx, [
      { ...event, ...noMachine, eventName: 'contactUnsubscribe', data: { method } },
    ])
    return fresh.length > 0 || tx.rollback(false)
  })
}

/** Reverts an unsubscription. Has no effect if the contact is not unsubscribed. */
export async function undoUnsubscription(
  db: Db,
  { organizationId, contactId }: { organizationId: OrganizationId; contactId: ContactId },
  ip: string,
): Promise<void> {
  await inTransaction(db.by({ type: 'recipient', id: null, ip }), async (tx) => {
    const recipient = await findRecipient(tx, organizationId, contactId)
    if (recipient?.subscription === 'unsubscribed') await resubscribe(tx, organizationId, contactId)
  })
}
