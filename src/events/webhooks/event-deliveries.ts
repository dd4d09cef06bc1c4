import type { Reader } from '../../platform/db/db.ts'
import type { EventName } from '../../platform/values/event-types.ts'
import type { DeliveryId, EventId, OrganizationId, WebhookId } from '../../platform/values/ids.ts'

export const deliveryStatuses = ['pending', 'delivered', 'failed'] as const
export type DeliveryStatus = (typeof deliveryStatuses)[number]

export type EventDelivery = {
  id: DeliveryId
  webhookId: WebhookId
  webhookName: string
  eventName: EventName
  status: DeliveryStatus
  attemptCount: number
  nextAttemptAt: Date | null
  reason: string | null
}

const deliveriesMax = 200

/** Returns the deliveries of events, oldest first. Their ids follow from the ids of event and webhook. */
export async function selectDeliveriesOfEvents(
  db: Reader,
  organizationId: OrganizationId,
  eventIds: readonly EventId[],
): Promise<EventDelivery[]> {
  if (eventIds.length === 0) return []
  return db<EventDelivery>`
    select delivery.id, webhooks.id as webhook_id, webhooks.name as webhook_name, delivery.event_name, delivery.status,
      delivery.attempt_count, delivery.next_attempt_at, delivery.reason
    from unnest(${eventIds}::uuid[]) as event (id)
    join webhooks on webhooks.organization_id = ${organizationId}
    cross join lateral (
      select * from deliveries
      where deliveries.organization_id = ${organizationId} and deliveries.id = delivery_id(event.id, webhooks.id) offset 0
    ) as delivery
    order by delivery.id
    limit ${deliveriesMax}`
}
