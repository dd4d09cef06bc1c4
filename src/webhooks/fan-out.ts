import { hash } from 'node:crypto'
import type { Reader, Tx } from '../db/db.ts'
import { enqueue } from '../queue/queue.ts'
import { contactChangeNames, type WebhookEventName } from '../values/event-types.ts'
import { groupBy } from '../values/group-by.ts'
import type { DeliveryId, EventId, OrganizationId, WebhookId } from '../values/ids.ts'

/** The kind of the jobs that post deliveries. The lane is the id of the webhook. */
export const deliverKind = 'webhook.deliver' as const

export type Subscription = {
  organizationId: OrganizationId
  id: WebhookId
  status: 'active' | 'paused'
  allEvents: boolean
  eventTypes: WebhookEventName[]
}

/** Returns all webhooks of these organizations. */
export const findSubscriptions = (db: Reader, organizationIds: OrganizationId[]) =>
  db<Subscription>`
    select organization_id, id, status, all_events, event_types
    from webhooks
    where organization_id = any (${organizationIds}::uuid[])`

/** Returns the webhooks of these organizations that select changes of contacts by name. */
export const findChangeSubscriptions = (db: Reader, organizationIds: OrganizationId[]) =>
  db<Subscription>`
    select organization_id, id, status, all_events, event_types
    from webhooks
    where organization_id = any (${organizationIds}::uuid[]) and event_types && ${[...contactChangeNames]}::text[]`

type RecordedEvent = { organizationId: OrganizationId; id: EventId; eventName: WebhookEventName }

/**
 * Creates one delivery and one job for each webhook subscribed to an event. Deliveries to a paused webhook are created
 * as failed, so that they can be replayed after it is resumed.
 */
export function fanOut(tx: Tx, events: readonly RecordedEvent[], subscriptions: readonly Subscription[]): void {
  const deliveries = deliveriesOf(events, subscriptions)
  if (deliveries.length === 0) return
  tx.send`
    insert into deliveries (organization_id, id, webhook_id, event_id, event_name, status, next_attempt_at, reason)
    select organization_id, id, webhook_id, event_id, event_name,
      case when is_active then 'pending' else 'failed' end,
      case when is_active then now() end,
      case when not is_active then 'Not sent: the webhook was paused' end
    from unnest(
      ${deliveries.map(({ event }) => event.organizationId)}::uuid[],
      ${deliveries.map(({ id }) => id)}::uuid[],
      ${deliveries.map(({ webhook }) => webhook.id)}::uuid[],
      ${deliveries.map(({ event }) => event.id)}::uuid[],
      ${deliveries.map(({ event }) => event.eventName)}::text[],
      ${deliveries.map(({ webhook }) => webhook.status === 'active')}::bool[]
    ) as delivery (organization_id, id, webhook_id, event_id, event_name, is_active)`
  const due = deliveries.filter(({ webhook }) => webhook.status === 'active')
  enqueue(
    tx,
    due.map(({ event: { organizationId }, id, webhook }) => ({
      organizationId,
      kind: deliverKind,
      lane: webhook.id,
      id,
    })),
  )
}

type NewDelivery = { id: DeliveryId; event: RecordedEvent; webhook: Subscription }

function deliveriesOf(events: readonly RecordedEvent[], subscriptions: readonly Subscription[]): NewDelivery[] {
  if (subscriptions.length === 0) return []
  const byOrganization = new Map(groupBy(subscriptions, ({ organizationId }) => organizationId))
  const deliveries: NewDelivery[] = []
  for (const event of events)
    for (const webhook of byOrganization.get(event.organizationId) ?? [])
      if (webhook.allEvents || webhook.eventTypes.includes(event.eventName))
        deliveries.push({ id: deliveryId(event.id, webhook.id), event, webhook })
  return deliveries
}

/**
 * The id of the delivery of one event to one webhook: the time of the event and a hash of both ids, so that ids sort by
 * time. The function delivery_id() of the database returns the same.
 */
export function deliveryId(eventId: EventId, webhookId: WebhookId): DeliveryId {
  const digest = hash('md5', eventId + webhookId)
  return `${eventId.slice(0, 13)}-7${digest.slice(13, 16)}-8${digest.slice(17, 20)}-${digest.slice(20)}` as DeliveryId
}
