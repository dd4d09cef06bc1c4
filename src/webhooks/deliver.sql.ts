import type { Reader, Writer } from '../db/db.ts'
import { sql } from '../db/sql.ts'
import { type Settlement, settleJobs } from '../queue/queue.ts'
import type { EventData, EventName } from '../values/event-types.ts'
import type { ContactId, DeliveryId, EventId, FlowId, MessageId, OrganizationId } from '../values/ids.ts'
import { type Attempt, type DeliveryStatus, keptBody } from './deliveries.sql.ts'
import type { RetrySchedule } from './retry-schedules.ts'
import { type SealedSecrets, sealedSecrets } from './signing-secrets.sql.ts'

export type DeliveryRow = SealedSecrets & {
  organizationId: OrganizationId
  id: DeliveryId
  eventId: EventId
  eventName: EventName
  attemptCount: number
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

/**
 * Returns everything needed to attempt these deliveries. Skips deliveries with another status and those whose webhook
 * was deleted.
 */
export async function findDeliveriesToSend(
  db: Reader,
  keys: { organizationId: OrganizationId; id: string }[],
  statuses: readonly DeliveryStatus[] = ['pending'],
): Promise<DeliveryRow[]> {
  return db<DeliveryRow>`
    select deliveries.organization_id, deliveries.id, deliveries.event_id, deliveries.event_name, deliveries.attempt_count,
      deliveries.is_test, ${keptBody}, webhooks.url, webhooks.retry_schedule, ${sealedSecrets},
      events.occurred_at, events.message_id, events.flow_id, events.machine, events.data, events.contact_id,
      events.contact_email, events.contact_first_name
    from unnest(${keys.map((key) => key.organizationId)}::uuid[], ${keys.map((key) => key.id)}::uuid[]) as key (organization_id, id)
    -- "offset 0" keeps the planner from scanning whole tables while their statistics are out of date.
    cross join lateral (
      select * from deliveries where organization_id = key.organization_id and deliveries.id = key.id offset 0
    ) as deliveries
    join webhooks on webhooks.organization_id = deliveries.organization_id and webhooks.id = deliveries.webhook_id
    left join events on events.organization_id = deliveries.organization_id and events.id = deliveries.event_id
      and coalesce(deliveries.body, '') = ''
    where deliveries.status = any (${statuses}::text[])`
}

export type DeliveryResult = {
  settlement: Settlement
  body: string
  status: DeliveryStatus
  attempt: Attempt
  /** Test events do not count towards the health of the endpoint. */
  isTest: boolean
}

/**
 * Records attempts, updates their deliveries and webhooks, and settles their jobs in one statement. A worker that lost
 * its lane records nothing; the new owner of the lane attempts again.
 */
export async function recordAttempts(db: Writer, endings: DeliveryResult[]): Promise<void> {
  const outcomes = {
    columns: sql`body, status, is_test, number, at, duration_ms, status_code, outcome, reason, signature, response_body`,
    arrays: sql`
      ${endings.map(({ body }) => body)}::text[],
      ${endings.map(({ status }) => status)}::text[],
      ${endings.map(({ isTest }) => isTest)}::bool[],
      ${endings.map(({ attempt }) => attempt.number)}::int[],
      ${endings.map(({ attempt }) => attempt.at)}::timestamptz[],
      ${endings.map(({ attempt }) => attempt.durationMs)}::int[],
      ${endings.map(({ attempt }) => attempt.statusCode)}::int[],
      ${endings.map(({ attempt }) => attempt.outcome)}::text[],
      ${endings.map(({ attempt }) => attempt.reason)}::text[],
      ${endings.map(({ attempt }) => attempt.signature)}::text[],
      ${endings.map(({ attempt }) => attempt.responseBody)}::text[]`,
  }
  const settled = settleJobs(
    endings.map(({ settlement }) => settlement),
    outcomes,
  )
  await db`
    with ${settled},
    endpoints as (
      update webhooks
      set last_attempt_at = now(), last_delivery_at = case when tally.succeeded then now() else last_delivery_at end,
        failing_since = case when tally.succeeded then null else coalesce(failing_since, now()) end
      from (
        select organization_id, lane::uuid as webhook_id, bool_or(status = 'delivered') as succeeded
        from ours where not is_test group by organization_id, lane order by organization_id, lane
      ) tally
      where webhooks.organization_id = tally.organization_id and webhooks.id = tally.webhook_id
        -- The row of a busy endpoint is updated once a second, not with every batch.
        and (last_attempt_at is null or last_attempt_at < now() - interval '1 second'
          or (failing_since is null) <> tally.succeeded)
    ),
    recorded as (
      update deliveries
      set status = ours.status, attempt_count = ours.number, reason = ours.reason,
        body = coalesce(deliveries.body, ours.body),
        next_attempt_at = now() + ours.retry_in_ms * interval '1 ms',
        delivered_at = case ours.status when 'delivered' then ours.at end
      from ours
      where deliveries.organization_id = ours.organization_id and deliveries.id = ours.id
      returning ours.organization_id, ours.id, ours.number, ours.at, ours.duration_ms, ours.status_code, ours.outcome,
        ours.reason, ours.signature,
        -- The response may repeat the request body, and the contact may have been erased since.
        case when deliveries.body <> '' then ours.response_body end as response_body
    )
    insert into delivery_attempts (organization_id, delivery_id, number, at, duration_ms, status_code, outcome, reason,
      signature, response_body)
    select organization_id, id, number, at, duration_ms, status_code, outcome, reason, signature, response_body
    from recorded
    on conflict do nothing`
}
