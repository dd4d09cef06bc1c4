import type { Reader, Tx } from '../db/db.ts'
import { allValues } from '../db/rows.ts'
import type { ContactId, EventId, OrganizationId } from '../values/ids.ts'

export const findEventsOf = (db: Reader, organizationId: OrganizationId, ids: readonly ContactId[]) =>
  allValues(db<{ id: EventId }>`
    select id from events where organization_id = ${organizationId} and contact_id = any (${ids}::uuid[])`)

/** An empty body stays empty when an attempt in flight ends. */
export function emptyDeliveriesOf(tx: Tx, organizationId: OrganizationId, eventIds: readonly EventId[]): void {
  tx.send`
    update deliveries set body = ''
    from unnest(${eventIds}::uuid[]) as event (id), webhooks
    where deliveries.organization_id = ${organizationId} and webhooks.organization_id = ${organizationId}
      and deliveries.id = delivery_id(event.id, webhooks.id)`
}

export function emptyEventsOf(tx: Tx, organizationId: OrganizationId, eventIds: readonly EventId[]): void {
  tx.send`
    update events set contact_email = null, contact_first_name = null
    where organization_id = ${organizationId} and id = any (${eventIds}::uuid[])`
}
