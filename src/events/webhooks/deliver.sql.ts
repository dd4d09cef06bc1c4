import type { Reader, Tx } from '../../platform/db/db.ts'
import type { ResponseRules } from '../../platform/egress/response-rules.ts'
import type { Settlement } from '../../platform/queue/settle-jobs.ts'
import type { EventData, WebhookEventName } from '../../platform/values/event-types.ts'
import { groupBy } from '../../platform/values/group-by.ts'
import type { ContactId, DeliveryId, EventId, FlowId, MessageId, OrganizationId } from '../../platform/values/ids.ts'
import { type Attempt, keptBody } from './deliveries.sql.ts'
import type { DeliveryStatus } from './event-deliveries.ts'
import type { RetrySchedule } from './retry-schedules.ts'
import { type SealedSecrets, sealedSecrets } from './signing-secrets.sql.ts'

export type DeliveryRow = SealedSecrets &
  ResponseRules & {
    organizationId: OrganizationId
    id: DeliveryId
    eventId: EventId
    eventName: WebhookEventName
    attemptCount: number
    createdAt: Date
    body: string | null
    url: string
    retrySchedule: RetrySchedule
    isTest: boolean
    occurredAt: Date | null
    messageId: MessageId | null
    flowId: FlowId | null
    machine: boolean
    data: EventData
    contactId: ContactId
    contactEmail: string | null
    contactFirstName: string | null
  }

/** Returns these deliveries, except those with another status and those whose webhook was deleted. */
export const findDeliveriesToSend = (
  db: Reader,
  keys: { organizationId: OrganizationId; id: string }[],
  statuses: readonly DeliveryStatus[] = ['pending'],
) =>
  db<DeliveryRow>`
    select deliveries.organization_id, deliveries.id, deliveries.event_id, deliveries.event_name, deliveries.attempt_count,
      deliveries.created_at, deliveries.is_test, ${keptBody}, webhooks.url, webhooks.acknowledge, webhooks.retry_4xx,
      webhooks.retry_schedule, ${sealedSecrets},
      events.occurred_at, events.message_id, events.flow_id, events.machine, events.data, events.contact_id,
      events.contact_email, events.contact_first_name
    from unnest(${keys.map((key) => key.organizationId)}::uuid[], ${keys.map((key) => key.id)}::uuid[]) as key (organization_id, id)
    -- "offset 0" keeps the planner from scanning whole tables while their statistics are out of date.
    cross join lateral (
      select * from deliveries
      where deliveries.organization_id = key.organization_id and deliveries.id = key.id
      offset 0
    ) as deliveries
    join webhooks on webhooks.organization_id = deliveries.organization_id and webhooks.id = deliveries.webhook_id
    left join events on events.organization_id = deliveries.organization_id and events.id = deliveries.event_id
      and coalesce(deliveries.body, '') = ''
    where deliveries.status = any (${statuses}::text[])`

export type DeliveryResult = {
  settlement: Settlement
  body: string
  status: DeliveryStatus
  attempt: Attempt
  /** Test events do not count towards the health of the endpoint. */
  isTest: boolean
}

/** Postpones a delivery that was not attempted, with the reason. If `retryInMs` is null, it fails. */
export function updateUntried(tx: Tx, { claim, retryInMs }: Settlement, id: DeliveryId, reason: string): void {
  tx.send`
    update deliveries
    set status = ${retryInMs === null ? 'failed' : 'pending'}, reason = ${reason},
      next_attempt_at = now() + ${retryInMs}::int8 * interval '1 ms'
    where organization_id = ${claim.organizationId} and id = ${id} and status = 'pending'`
}

type DeliveryKey = { organizationId: OrganizationId; id: DeliveryId }

/** Returns the deliveries whose contact was erased during the attempt. */
export async function updateDeliveries(tx: Tx, results: readonly DeliveryResult[]): Promise<DeliveryKey[]> {
  const rows = await tx<DeliveryKey & { isErased: boolean }>`
    update deliveries
    set status = result.status, attempt_count = result.number, reason = result.reason,
      body = coalesce(deliveries.body, result.body),
      next_attempt_at = result.next_attempt_at,
      delivered_at = case when result.status = 'delivered' then result.at end
    from (select row.*, now() + retry_in_ms * interval '1 ms' as next_attempt_at from unnest(
      ${results.map(({ settlement }) => settlement.claim.organizationId)}::uuid[],
      ${results.map(({ settlement }) => settlement.claim.id)}::uuid[],
      ${results.map(({ settlement }) => settlement.retryInMs)}::int8[],
      ${results.map(({ status }) => status)}::text[],
      ${results.map(({ body }) => body)}::text[],
      ${results.map(({ attempt }) => attempt.number)}::int[],
      ${results.map(({ attempt }) => attempt.at)}::timestamptz[],
      ${results.map(({ attempt }) => attempt.reason)}::text[]
    ) as row (organization_id, id, retry_in_ms, status, body, number, at, reason) offset 0) as result
    where deliveries.organization_id = result.organization_id and deliveries.id = result.id
    returning deliveries.organization_id, deliveries.id, deliveries.body = '' as is_erased`
  return rows.filter(({ isErased }) => isErased)
}

export function insertAttempts(tx: Tx, results: readonly DeliveryResult[]): void {
  tx.send`
    insert into delivery_attempts (organization_id, delivery_id, number, at, duration_ms, status_code, outcome, reason,
      signature, standard_signature, response_body)
    select * from unnest(
      ${results.map(({ settlement }) => settlement.claim.organizationId)}::uuid[],
      ${results.map(({ settlement }) => settlement.claim.id)}::uuid[],
      ${results.map(({ attempt }) => attempt.number)}::int[],
      ${results.map(({ attempt }) => attempt.at)}::timestamptz[],
      ${results.map(({ attempt }) => attempt.durationMs)}::int[],
      ${results.map(({ attempt }) => attempt.statusCode)}::int[],
      ${results.map(({ attempt }) => attempt.outcome)}::text[],
      ${results.map(({ attempt }) => attempt.reason)}::text[],
      ${results.map(({ attempt }) => attempt.signature)}::text[],
      ${results.map(({ attempt }) => attempt.standardSignature)}::text[],
      ${results.map(({ attempt }) => attempt.responseBody)}::text[]
    )
    on conflict do nothing`
}

/** The response of the endpoint may repeat the body of the request. */
export const eraseResponses = (tx: Tx, deliveries: readonly DeliveryKey[]) =>
  tx`
    update delivery_attempts set response_body = null
    from unnest(
      ${deliveries.map(({ organizationId }) => organizationId)}::uuid[],
      ${deliveries.map(({ id }) => id)}::uuid[]
    ) as key (organization_id, id)
    where delivery_attempts.organization_id = key.organization_id and delivery_id = key.id`

/** The row of a busy endpoint is updated once a second, not with every batch. Tests do not count. */
export function updateEndpoints(tx: Tx, results: readonly DeliveryResult[]): void {
  const endpoints = groupBy(
    results.filter(({ isTest }) => !isTest),
    ({ settlement: { claim } }) => `${claim.organizationId} ${claim.lane}`,
  ).map(([, group]) => {
    const { organizationId, lane } = group[0]!.settlement.claim
    return { organizationId, id: lane, succeeded: group.some(({ status }) => status === 'delivered') }
  })
  if (endpoints.length === 0) return
  tx.send`
    update webhooks
    set last_attempt_at = now(), last_delivery_at = case when endpoint.succeeded then now else last_delivery_at end,
      failing_since = case when endpoint.succeeded then null else coalesce(failing_since, now) end
    from unnest(
      ${endpoints.map(({ organizationId }) => organizationId)}::uuid[],
      ${endpoints.map(({ id }) => id)}::uuid[],
      ${endpoints.map(({ succeeded }) => succeeded)}::bool[]
    ) as endpoint (organization_id, id, succeeded), now() as now
    where webhooks.organization_id = endpoint.organization_id and webhooks.id = endpoint.id
      and (last_attempt_at is null or last_attempt_at < now() - interval '1 second'
        or (failing_since is null) <> endpoint.succeeded)`
}
