import type { Reader, Tx } from '../../platform/db/db.ts'
import type { WebhookEventName } from '../../platform/values/event-types.ts'
import type { DeliveryId, EventId, OrganizationId, WebhookId } from '../../platform/values/ids.ts'
import type { Subscription } from './fan-out.ts'

/** Returns the webhooks that select the event by name. */
export const findSelecting = (db: Reader, organizationId: OrganizationId, eventName: WebhookEventName) =>
  db<Pick<Subscription, 'id' | 'status'>>`
    select id, status from webhooks where organization_id = ${organizationId} and ${eventName} = any (event_types)`

export type AnnouncedDelivery = { id: DeliveryId; webhookId: WebhookId; isActive: boolean }

/** Inserts deliveries of an event that is not recorded, with their body. */
export function insertAnnounced(
  tx: Tx,
  event: { organizationId: OrganizationId; id: EventId; eventName: WebhookEventName; body: string },
  deliveries: readonly AnnouncedDelivery[],
): void {
  tx.send`
    insert into deliveries (organization_id, id, webhook_id, event_id, event_name, status, next_attempt_at, reason, body)
    select ${event.organizationId}::uuid, id, webhook_id, ${event.id}::uuid, ${event.eventName}::text,
      case when is_active then 'pending' else 'failed' end,
      case when is_active then now() end,
      case when not is_active then 'Not sent: the webhook was paused' end,
      ${event.body}::text
    from unnest(
      ${deliveries.map(({ id }) => id)}::uuid[],
      ${deliveries.map(({ webhookId }) => webhookId)}::uuid[],
      ${deliveries.map(({ isActive }) => isActive)}::bool[]
    ) as delivery (id, webhook_id, is_active)`
}
