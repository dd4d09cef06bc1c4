import type { Reader, Tx, Writer } from '../../platform/db/db.ts'
import { first } from '../../platform/db/rows.ts'
import { and, type Sql, sql } from '../../platform/db/sql.ts'
import type { AttemptOutcome } from '../../platform/egress/post-outcome.ts'
import { enqueue } from '../../platform/queue/queue.ts'
import type { WebhookEventName } from '../../platform/values/event-types.ts'
import {
  type DeliveryId,
  type EventId,
  leastId,
  type OrganizationId,
  type WebhookId,
} from '../../platform/values/ids.ts'
import type { DeliveryStatus } from './event-deliveries.ts'
import { deliverKind } from './fan-out.ts'

export type Delivery = {
  id: DeliveryId
  webhookId: WebhookId
  eventId: EventId
  eventName: WebhookEventName
  isTest: boolean
  status: DeliveryStatus
  attemptCount: number
  nextAttemptAt: Date | null
  reason: string | null
  createdAt: Date
  deliveredAt: Date | null
  /** Null for tests, for events without a contact, and once the contact was erased. */
  contactEmail: string | null
}

const columns = (
  organizationId: OrganizationId,
) => sql`deliveries.id, webhook_id, event_id, event_name, is_test, status,
  attempt_count, next_attempt_at, reason, created_at, delivered_at,
  (select contact_email from events where events.organization_id = ${organizationId} and events.id = event_id)
    as contact_email`

/**
 * Erasing a contact empties the bodies that contain it. An empty body is never filled again, so that an attempt in
 * flight cannot restore personal data; it is built from the event instead.
 */
export const keptBody = sql`nullif(deliveries.body, '') as body`

export type DeliveryFilter = {
  status?: DeliveryStatus | undefined
  eventName?: WebhookEventName | undefined
  before?: DeliveryId | undefined
  limit: number
}

/** Newest first. */
export async function selectDeliveries(
  db: Reader,
  organizationId: OrganizationId,
  webhookId: WebhookId,
  filter: DeliveryFilter,
): Promise<Delivery[]> {
  const conditions = [
    sql`organization_id = ${organizationId}`,
    sql`webhook_id = ${webhookId}`,
    ...(filter.status ? [sql`status = ${filter.status}`] : []),
    ...(filter.eventName ? [sql`event_name = ${filter.eventName}`] : []),
    ...(filter.before ? [sql`id < ${filter.before}`] : []),
  ]
  return db<Delivery>`select ${columns(organizationId)} from deliveries where ${and(conditions)} order by id desc limit ${filter.limit}`
}

export const findDelivery = (db: Reader, organizationId: OrganizationId, id: DeliveryId) =>
  first(
    db<
      Delivery & { body: string | null }
    >`select ${columns(organizationId)}, ${keptBody} from deliveries where organization_id = ${organizationId} and id = ${id}`,
  )

export type Attempt = {
  number: number
  at: Date
  durationMs: number
  statusCode: number | null
  outcome: AttemptOutcome
  reason: string
  /** `X-Service-Signature` as it was sent. */
  signature: string
  /** `webhook-signature` as it was sent. Null for attempts of earlier versions. */
  standardSignature: string | null
  responseBody: string | null
}

export const selectAttempts = (db: Reader, organizationId: OrganizationId, deliveryId: DeliveryId) =>
  db<Attempt>`
    select number, at, duration_ms, status_code, outcome, reason, signature, standard_signature, response_body
    from delivery_attempts
    where organization_id = ${organizationId} and delivery_id = ${deliveryId}
    order by number`

/** Inserts a finished delivery without an event: a test. */
export async function insertTestDelivery(
  tx: Tx,
  delivery: {
    organizationId: OrganizationId
    id: DeliveryId
    webhookId: WebhookId
    eventId: EventId
    eventName: WebhookEventName
    body: string
    attempt: Attempt
  },
): Promise<void> {
  const { attempt } = delivery
  const delivered = attempt.outcome === 'acknowledged'
  tx.send`
    insert into deliveries (organization_id, id, webhook_id, event_id, event_name, is_test, status, attempt_count, reason, body,
      delivered_at)
    values (${delivery.organizationId}, ${delivery.id}, ${delivery.webhookId}, ${delivery.eventId}, ${delivery.eventName}, true,
      ${delivered ? 'delivered' : 'failed'}, 1, ${attempt.reason}, ${delivery.body}, ${delivered ? attempt.at : null})`
  await tx`
    insert into delivery_attempts (organization_id, delivery_id, number, at, duration_ms, status_code, outcome, reason,
      signature, standard_signature, response_body)
    values (${delivery.organizationId}, ${delivery.id}, ${attempt.number}, ${attempt.at}, ${attempt.durationMs},
      ${attempt.statusCode}, ${attempt.outcome}, ${attempt.reason}, ${attempt.signature},
      ${attempt.standardSignature}, ${attempt.responseBody})`
}

type Replayed = { id: DeliveryId; webhookId: WebhookId }

/** Replays a delivery with any outcome. Returns false if it is already pending or its webhook was deleted. */
export async function replayDelivery(tx: Tx, organizationId: OrganizationId, id: DeliveryId): Promise<boolean> {
  const rows = await tx<Replayed>`
    update deliveries set status = 'pending', next_attempt_at = now(), reason = null
    where organization_id = ${organizationId} and id = ${id} and status <> 'pending'
      and exists (select from webhooks where webhooks.organization_id = ${organizationId} and webhooks.id = webhook_id)
    returning id, webhook_id`
  enqueueReplayed(tx, organizationId, rows)
  return rows.length > 0
}

/**
 * Replays up to `limit` failed deliveries, in order of id after `after`, and returns their ids in this order. Skips
 * tests, whose ids are not derived from an event. A delivery without attempts counts as failed when it was created.
 */
export async function replayFailed(
  tx: Tx,
  organizationId: OrganizationId,
  webhookId: WebhookId,
  { since, until, after, limit }: { since: Date; until: Date; after?: DeliveryId | undefined; limit: number },
): Promise<DeliveryId[]> {
  const rows = await tx<Replayed>`
    with chosen as materialized (
      select id from deliveries
      where organization_id = ${organizationId} and webhook_id = ${webhookId} and status = 'failed'
        and id = delivery_id(event_id, webhook_id) and id > ${after ?? leastId('dlv', 0)} and created_at <= ${until}
        and (created_at >= ${since} or (
          select at + duration_ms * interval '1 ms' from delivery_attempts
          where delivery_attempts.organization_id = ${organizationId} and delivery_id = deliveries.id
            and number = attempt_count
        ) >= ${since})
      order by id
      limit ${limit}
      for update skip locked
    )
    update deliveries set status = 'pending', next_attempt_at = now(), reason = null
    from chosen
    where deliveries.organization_id = ${organizationId} and deliveries.id = chosen.id
    returning deliveries.id, webhook_id`
  enqueueReplayed(tx, organizationId, rows)
  return rows.map(({ id }) => id).sort()
}

function enqueueReplayed(tx: Tx, organizationId: OrganizationId, rows: readonly Replayed[]): void {
  enqueue(
    tx,
    rows.map(({ id, webhookId }) => ({ organizationId, kind: deliverKind, lane: webhookId, id })),
  )
}

export const failDeliveries = (
  db: Writer,
  deliveries: { organizationId: OrganizationId; id: DeliveryId }[],
  reason: string,
) =>
  db`
    update deliveries set status = 'failed', next_attempt_at = null, reason = ${reason}
    from unnest(
      ${deliveries.map((delivery) => delivery.organizationId)}::uuid[],
      ${deliveries.map((delivery) => delivery.id)}::uuid[]
    ) as gone (organization_id, id)
    where deliveries.organization_id = gone.organization_id and deliveries.id = gone.id and status = 'pending'`

/**
 * Follows a CTE `doomed (organization_id, id, row_ctid)`. Attempts are looked up by key ("offset 0"), and rows are deleted
 * by ctid: the planner overestimates the number of rows and would otherwise scan whole tables.
 */
const deleteDoomed = (organizationId: OrganizationId | undefined): Sql => sql`
  attempts as (
    delete from delivery_attempts
    using doomed
    cross join lateral (
      select ctid as row_ctid from delivery_attempts
      where delivery_attempts.organization_id = doomed.organization_id and delivery_attempts.delivery_id = doomed.id
        ${inOrganization(organizationId, sql`delivery_attempts`)}
      offset 0
    ) attempt
    where delivery_attempts.ctid = attempt.row_ctid ${inOrganization(organizationId, sql`delivery_attempts`)}
  )
  delete from deliveries using doomed
  where deliveries.ctid = doomed.row_ctid ${inOrganization(organizationId, sql`deliveries`)}
  returning 1`

const inOrganization = (organizationId: OrganizationId | undefined, table: Sql): Sql =>
  organizationId === undefined ? sql`` : sql`and ${table}.organization_id = ${organizationId}`

/** On a distributed database, rows of one organization are deleted at a time. */
type DeletionLimits = { limit: number; organizationId?: OrganizationId | undefined }

/** Deletes finished deliveries with their attempts, up to `limit` per organization. Returns their number. */
export async function deleteOldDeliveries(
  db: Writer,
  { before, limit, organizationId }: DeletionLimits & { before: Date },
): Promise<number> {
  // Ids are ordered by time, so old deliveries of an organization are at the start of the index. The delivery of a late
  // bounce has the time of its message, so some recent ones are there as well, but no old one is elsewhere.
  const rows = await db`
    with doomed as materialized (
      select finished.*
      from organizations
      cross join lateral (
        select organization_id, id, ctid as row_ctid from deliveries
        where deliveries.organization_id = organizations.id
          and deliveries.id < ${leastId('dlv', before.getTime())} and created_at < ${before} and status <> 'pending'
          ${inOrganization(organizationId, sql`deliveries`)}
        limit ${limit}
      ) finished
    ),
    ${deleteDoomed(organizationId)}`
  return rows.length
}

/** Deletes the deliveries of deleted webhooks, up to `limit` per webhook. Returns how many were deleted. */
export async function deleteOrphanDeliveries(db: Writer, { limit, organizationId }: DeletionLimits): Promise<number> {
  // Skips from webhook to webhook along the index: as many steps as there are webhooks with deliveries.
  const rows = await db`
    with recursive logged as (
      (select organization_id, webhook_id from deliveries where true ${inOrganization(organizationId, sql`deliveries`)}
        order by organization_id, webhook_id limit 1)
      union all
      select next.organization_id, next.webhook_id
      from logged
      cross join lateral (
        select organization_id, webhook_id from deliveries
        where (deliveries.organization_id, deliveries.webhook_id) > (logged.organization_id, logged.webhook_id)
          ${inOrganization(organizationId, sql`deliveries`)}
        order by organization_id, webhook_id
        limit 1
      ) next
    ),
    doomed as materialized (
      select orphan.*
      from logged
      cross join lateral (
        select organization_id, id, ctid as row_ctid from deliveries
        where deliveries.organization_id = logged.organization_id and deliveries.webhook_id = logged.webhook_id
          ${inOrganization(organizationId, sql`deliveries`)}
        limit ${limit}
      ) orphan
      where not exists (
        select from webhooks where webhooks.organization_id = logged.organization_id and webhooks.id = logged.webhook_id
          ${inOrganization(organizationId, sql`webhooks`)})
    ),
    ${deleteDoomed(organizationId)}`
  return rows.length
}
