import type { Tx } from '../db/db.ts'
import type { ContactId, OrganizationId } from '../values/ids.ts'
import { emptyDeliveriesOf, emptyEventsOf, findEventsOf } from './forget-contacts.sql.ts'

/** Removes personal data from the events and deliveries of contacts that were deleted with an undone import. */
export async function forgetContacts(tx: Tx, organizationId: OrganizationId, ids: readonly ContactId[]): Promise<void> {
  const eventIds = await findEventsOf(tx, organizationId, ids)
  if (eventIds.length === 0) return
  emptyDeliveriesOf(tx, organizationId, eventIds)
  emptyEventsOf(tx, organizationId, eventIds)
}
