import { hash } from 'node:crypto'
import type { Reader, Tx } from '../../platform/db/db.ts'
import { sql } from '../../platform/db/sql.ts'
import type { ResponseRules } from '../../platform/egress/response-rules.ts'
import { areHandedOver, enqueue } from '../../platform/queue/queue.ts'
import { contactChangeNames, type WebhookEventName } from '../../platform/values/event-types.ts'
import { groupBy } from '../../platform/values/group-by.ts'
import type { DeliveryId, EventId, OrganizationId, WebhookId } from '../../platform/values/ids.ts'
import type { WebhookEvent } from './envelope.ts'
import type { RetrySchedule } from './retry-schedules.ts'
import { type SealedSecrets, sealedSecrets } from './signing-secrets.sql.ts'

/** The kind of the jobs that post deliveries. The lane is the id of the webhook. */
export const deliverKind = 'webhook.deliver' as const

export type Subscription = {
  organizationId: OrganizationId
  id: WebhookId
  status: 'active' | 'paused'
  allEvents: boolean
  eventTypes: WebhookEventName[]
  /** Only if it was asked for. */
  endpoint?: Endpoint
}

/** Where and how deliveries of a webhook are posted. */
export type Endpoint = SealedSecrets & ResponseRules & { url: string; retrySchedule: RetrySchedule }

/** Returns all webhooks of these organizations. */
export async function findSubscriptions(
  db: Reader,
  organizationIds: OrganizationId[],
  { withEndpoints = false } = {},
): Promise<Subscription[]> {
  const rows = await db<Subscription & Endpoint>`
    select organization_id, id, status, all_events, event_types
      ${withEndpoints ? sql`, url, acknowledge, retry_4xx, retry_schedule, ${sealedSecrets}` : sql``}
    from webhooks
    where organization_id = any (${organizationIds}::uuid[])`
  return withEndpoints ? rows.map((row) => ({ ...row, endpoint: row })) : rows
}

/** Returns the webhooks of these organizations that select changes of contacts by name. */
export const findChangeSubscriptions = (db: Reader, organizationIds: OrganizationId[]) =>
  db<Subscription>`
    select organization_id, id, status, all_events, event_types
    from webhooks
    where organization_id = any (${organizationIds}::uuid[]) and event_types && ${[...contactChangeNames]}::text[]`

type RecordedEvent = { organizationId: OrganizationId; id: EventId; eventName: WebhookEventName }

/** A delivery for a worker of this process, which then need not load it. */
export type HandedDelivery = { id: DeliveryId; event: WebhookEvent; endpoint: Endpoint }

/**
 * Creates one delivery and one job for each webhook subscribed to an event. Deliveries to a paused webhook are created
 * as failed, so that they can be replayed after it is resumed. With `toWebhookEvent`, few deliveries are handed to a worker
 * of this process.
 */
export function fanOut<Event extends RecordedEvent>(
  tx: Tx,
  events: readonly Event[],
  subscriptions: readonly Subscription[],
  toWebhookEvent?: (event: Event) => WebhookEvent,
): void {
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
  const handOver = toWebhookEvent && areHandedOver(tx, due.length)
  enqueue(
    tx,
    due.map(({ event, id, webhook: { id: lane, endpoint } }) => ({
      organizationId: event.organizationId,
      kind: deliverKind,
      lane,
      id,
      ...(handOver && endpoint && { work: { id, event: toWebhookEvent(event), endpoint } satisfies HandedDelivery }),
    })),
  )
}

type NewDelivery<Event> = { id: DeliveryId; event: Event; webhook: Subscription }

function deliveriesOf<Event extends RecordedEvent>(
  events: readonly Event[],
  subscriptions: readonly Subscription[],
): NewDelivery<Event>[] {
  if (subscriptions.length === 0) return []
  const byOrganization = new Map(groupBy(subscriptions, ({ organizationId }) => organizationId))
  const deliveries: NewDelivery<Event>[] = []
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
