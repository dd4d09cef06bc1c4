import type { Reader, Tx } from '../../platform/db/db.ts'
import type { EventData, WebhookEventName } from '../../platform/values/event-types.ts'
import type {
  ContactId,
  DeliveryId,
  EventId,
  FlowId,
  MessageId,
  OrganizationId,
  WebhookId,
} from '../../platform/values/ids.ts'
import type { Attempt } from './deliveries.sql.ts'

export type PastEvent = {
  id: EventId
  deliveryId: DeliveryId
  eventName: WebhookEventName
  occurredAt: Date
  messageId: MessageId | null
  flowId: FlowId | null
  machine: boolean
  data: EventData
  contactId: ContactId
  contactEmail: string | null
  contactFirstName: string | null
}

type EventFilter = { eventTypes: readonly string[]; limit: number }

/** Returns the newest events of an organization, as they would be delivered to a webhook. */
export const selectNewestEvents = (
  db: Reader,
  organizationId: OrganizationId,
  webhookId: WebhookId,
  { eventTypes, limit }: EventFilter,
) =>
  db<PastEvent>`
    select id, delivery_id(id, ${webhookId}) as delivery_id, event_name, occurred_at, message_id, flow_id, machine, data,
      contact_id, contact_email, contact_first_name
    from events
    where organization_id = ${organizationId} and event_name = any (${eventTypes}::text[])
    order by id desc
    limit ${limit}`

export type PastDelivery = { event: PastEvent; body: string; attempts: Attempt[]; isDelivered: boolean }

/** Inserts deliveries with their attempts, and the times of the last ones into the webhook. */
export async function insertPastDeliveries(
  tx: Tx,
  organizationId: OrganizationId,
  webhookId: WebhookId,
  deliveries: readonly PastDelivery[],
): Promise<void> {
  const last = deliveries.map(({ attempts }) => attempts.at(-1)!)
  await tx`
    insert into deliveries (organization_id, id, webhook_id, event_id, event_name, status, attempt_count, reason, body,
      created_at, delivered_at)
    select ${organizationId}, id, ${webhookId}, event_id, event_name,
      case when is_delivered then 'delivered' else 'failed' end, attempt_count, reason, body, created_at,
      case when is_delivered then last_at end
    from unnest(
      ${deliveries.map(({ event }) => event.deliveryId)}::uuid[], ${deliveries.map(({ event }) => event.id)}::uuid[],
      ${deliveries.map(({ event }) => event.eventName)}::text[], ${deliveries.map(({ isDelivered }) => isDelivered)}::bool[],
      ${deliveries.map(({ attempts }) => attempts.length)}::int[], ${last.map(({ reason }) => reason)}::text[],
      ${deliveries.map(({ body }) => body)}::text[], ${deliveries.map(({ event }) => event.occurredAt)}::timestamptz[],
      ${last.map(({ at }) => at)}::timestamptz[]
    ) as past (id, event_id, event_name, is_delivered, attempt_count, reason, body, created_at, last_at)`
  const attempts = deliveries.flatMap(({ event, attempts }) =>
    attempts.map((each) => ({ ...each, deliveryId: event.deliveryId })),
  )
  await tx`
    insert into delivery_attempts (organization_id, delivery_id, number, at, duration_ms, status_code, outcome, reason,
      signature, standard_signature, response_body)
    select ${organizationId}, past.*
    from unnest(
      ${attempts.map((each) => each.deliveryId)}::uuid[], ${attempts.map((each) => each.number)}::int[],
      ${attempts.map((each) => each.at)}::timestamptz[], ${attempts.map((each) => each.durationMs)}::int[],
      ${attempts.map((each) => each.statusCode)}::int[], ${attempts.map((each) => each.outcome)}::text[],
      ${attempts.map((each) => each.reason)}::text[], ${attempts.map((each) => each.signature)}::text[],
      ${attempts.map((each) => each.standardSignature)}::text[],
      ${attempts.map((each) => each.responseBody)}::text[]
    ) as past (delivery_id, number, at, duration_ms, status_code, outcome, reason, signature, standard_signature,
      response_body)`
  await tx`
    update webhooks
    set last_attempt_at = (select max(at) from unnest(${last.map(({ at }) => at)}::timestamptz[]) as at),
      last_delivery_at = (select max(delivered_at) from deliveries
        where deliveries.organization_id = ${organizationId} and deliveries.webhook_id = ${webhookId})
    where organization_id = ${organizationId} and id = ${webhookId}`
}
