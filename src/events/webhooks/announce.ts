import type { Tx } from '../../platform/db/db.ts'
import { enqueue } from '../../platform/queue/queue.ts'
import type { EventData, OrganizationEventName } from '../../platform/values/event-types.ts'
import { type FlowId, newId, type OrganizationId } from '../../platform/values/ids.ts'
import { findSelecting, insertAnnounced } from './announce.sql.ts'
import { webhookBody } from './envelope.ts'
import { deliverKind, deliveryId } from './fan-out.ts'

export type Announcement = {
  organizationId: OrganizationId
  eventName: OrganizationEventName
  flowId: FlowId | null
  data: EventData
}

/**
 * Creates a delivery for each webhook that selects the event by name. The event belongs to no contact and is not recorded
 * beside its deliveries, so these have their body from the beginning.
 */
export async function announce(tx: Tx, { organizationId, eventName, flowId, data }: Announcement): Promise<void> {
  const webhooks = await findSelecting(tx, organizationId, eventName)
  if (webhooks.length === 0) return
  const event = { organizationId, id: newId('evt'), eventName, occurredAt: new Date(), flowId, data }
  const body = webhookBody({ ...event, messageId: null, machine: false, contact: null })
  const deliveries = webhooks.map(({ id: webhookId, status }) => ({
    id: deliveryId(event.id, webhookId),
    webhookId,
    isActive: status === 'active',
  }))
  insertAnnounced(tx, { ...event, body }, deliveries)
  enqueue(
    tx,
    deliveries
      .filter(({ isActive }) => isActive)
      .map(({ id, webhookId }) => ({ organizationId, kind: deliverKind, lane: webhookId, id })),
  )
}
