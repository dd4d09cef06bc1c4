import type { Utm } from '../content/content.ts'
import { containsInAnyCase } from '../platform/db/any-case.ts'
import type { Reader, Tx } from '../platform/db/db.ts'
import { type Sql, sql } from '../platform/db/sql.ts'
import { userOf } from '../platform/values/actor.ts'
import {
  type BroadcastId,
  type ContactId,
  type FlowId,
  type FlowVersionId,
  type OrganizationId,
  parseId,
  type UserId,
} from '../platform/values/ids.ts'
import type { WeeklyWindow } from '../platform/values/weekly-window.ts'

export const broadcastStatuses = [
  'draft',
  'scheduled',
  'preparing',
  'sending',
  'paused',
  'sent',
  'cancelled',
  'expired',
] as const
export type BroadcastStatus = (typeof broadcastStatuses)[number]

export const recipientStatuses = [
  'pending',
  'queued',
  'sent',
  'bounced',
  'suppressed',
  'unsubscribed',
  'failed',
  'cancelled',
] as const
export type RecipientStatus = (typeof recipientStatuses)[number]

/** Ids as they appear in the API. */
export type Audience = {
  group_ids: string[]
  segment_ids: string[]
  exclude_group_ids: string[]
  exclude_segment_ids: string[]
  /** All subscribed contacts, instead of groups and segments. Missing in older rows. */
  all_subscribed?: boolean
  /** Recipients of this broadcast who have not opened it, instead of groups and segments. Missing in older rows. */
  not_opened_broadcast_id?: string | null
}

export type Schedule = {
  /**
   * A local time such as 2026-12-01T09:00, in `time_zone` or in the zone of each recipient, or a time with an offset.
   * Null: now.
   */
  at: string | null
  time_zone: string
  per_recipient: boolean
  time_zone_attribute: string
  window: WeeklyWindow | null
}

/** Either another subject or another version of the flow; neither is the flow as it is. */
export type Variant = {
  subject: string | null
  flow_version: number | null
  /** The percentage of the sample. */
  share: number
}
export const winnerRules = ['opens', 'clicks', 'manual'] as const

/** How far the recipients are frozen. */
export type Freezing = {
  to: ContactId
  /** Contacts of the audience, and recipients among them. */
  contacts: number
  recipients: number
  /** The zone that stands for all zones in which the planned time is at the same time, by that time. */
  zones: Record<string, string>
}

export type Broadcast = {
  organizationId: OrganizationId
  id: BroadcastId
  name: string
  /** Increases with every change of the content. */
  revision: number
  status: BroadcastStatus
  flowId: FlowId | null
  flowVersionId: FlowVersionId | null
  flowVersion: number | null
  audience: Audience
  context: Record<string, unknown>
  /** Replaces the subject of the flow. */
  subject: string | null
  /** Replaces that of the flow. */
  utm: Utm | null
  /** Sends a transactional flow, also to contacts that unsubscribed. */
  serviceAnnouncement: boolean
  schedule: Schedule
  messagesPerHour: number | null
  missedAfterSeconds: number
  /** Empty if all recipients get the same email. */
  variants: Variant[]
  /** The percentage of the recipients that get the variants before the winner is chosen. */
  testPercent: number
  winnerBy: (typeof winnerRules)[number]
  decideAfterSeconds: number
  decidesAt: Date | null
  /** The position of the chosen variant. */
  winner: number | null
  /** Set when the rest is being sent. */
  decidedAt: Date | null
  startsAt: Date | null
  reason: string | null
  detail: string | null
  recipients: number | null
  excluded: number | null
  /** Set while the recipients are being frozen. */
  freezing: Freezing | null
  round: number
  createdBy: UserId | null
  createdAt: Date
  updatedAt: Date
  startedAt: Date | null
  finishedAt: Date | null
  /** Recipients by status. Empty before the start. */
  counts: Partial<Record<RecipientStatus, number>>
  now: Date
}

/** Every table is compared with the organization itself, so that a distributed database reads from one node. */
const columnsOf = (
  organizationId: OrganizationId,
): Sql => sql`organization_id, id, name, revision, status, flow_id, flow_version_id, audience, context, subject, utm, service_announcement,
  schedule, messages_per_hour, missed_after_seconds, variants, test_percent, winner_by, decide_after_seconds, decides_at, winner,
  decided_at, starts_at, reason, detail, recipients, excluded, freezing, round, created_by, created_at,
  updated_at, started_at, finished_at, statement_timestamp() as now,
  (select number from flow_versions
    where flow_versions.organization_id = ${organizationId}
      and flow_versions.id = broadcasts.flow_version_id) as flow_version,
  (select coalesce(jsonb_object_agg(counts.status, counts.recipients), '{}') from broadcast_counts counts
    where counts.organization_id = ${organizationId} and counts.broadcast_id = broadcasts.id) as counts`

export async function findBroadcast(
  db: Reader,
  organizationId: OrganizationId,
  id: BroadcastId,
): Promise<Broadcast | undefined> {
  const [row] = await db.run<Broadcast>(
    sql`select ${columnsOf(organizationId)} from broadcasts where organization_id = ${organizationId} and id = ${id}`,
  )
  return row
}

export const selectBroadcastsById = (db: Reader, organizationId: OrganizationId, ids: readonly BroadcastId[]) =>
  db.run<Broadcast>(
    sql`select ${columnsOf(organizationId)} from broadcasts where organization_id = ${organizationId} and id = any (${ids}::uuid[])`,
  )

/** Locks the broadcast until the end of the transaction. */
export async function lockBroadcast(
  tx: Tx,
  organizationId: OrganizationId,
  id: BroadcastId,
): Promise<Broadcast | undefined> {
  await tx`select from broadcasts where organization_id = ${organizationId} and id = ${id} for no key update`
  return findBroadcast(tx, organizationId, id)
}

export type BroadcastFilter = {
  /** Part of the name, or an id. */
  query: string | undefined
  status: BroadcastStatus | undefined
  before: BroadcastId | undefined
  limit: number
}

/** Newest first. */
export async function selectBroadcasts(
  db: Reader,
  organizationId: OrganizationId,
  { query, status, before, limit }: BroadcastFilter,
): Promise<Broadcast[]> {
  const statusCondition = status ? sql`and status = ${status}` : sql``
  const older = before ? sql`and id < ${before}` : sql``
  const matching = query ? sql`and ${matchesQuery(query)}` : sql``
  return db.run<Broadcast>(sql`
    select ${columnsOf(organizationId)} from broadcasts
    where organization_id = ${organizationId} ${statusCondition} ${matching} ${older}
    order by id desc
    limit ${limit}`)
}

function matchesQuery(query: string): Sql {
  const id = parseId('brc', query.trim().toLowerCase())
  return id ? sql`id = ${id}` : containsInAnyCase(sql`name`, query)
}

export async function countBroadcasts(db: Reader, organizationId: OrganizationId): Promise<number> {
  const [row] = await db<{ count: number }>`
    select count(*) from broadcasts where organization_id = ${organizationId} and status = 'draft'`
  return row!.count
}

/** Returns the names that begin with this text, of the newest thousand broadcasts that have such a name. */
export async function selectNames(db: Reader, organizationId: OrganizationId, start: string): Promise<string[]> {
  const rows = await db<{ name: string }>`
    select name from broadcasts
    where organization_id = ${organizationId} and starts_with(name, ${start})
    order by id desc
    limit 1000`
  return rows.map(({ name }) => name)
}

export type BroadcastContent = Pick<
  Broadcast,
  | 'name'
  | 'flowId'
  | 'audience'
  | 'context'
  | 'subject'
  | 'utm'
  | 'serviceAnnouncement'
  | 'schedule'
  | 'messagesPerHour'
  | 'missedAfterSeconds'
  | 'variants'
  | 'testPercent'
  | 'winnerBy'
  | 'decideAfterSeconds'
>

export async function insertBroadcast(
  tx: Tx,
  broadcast: BroadcastContent & Pick<Broadcast, 'organizationId' | 'id'>,
): Promise<void> {
  await tx`
    insert into broadcasts (organization_id, id, name, flow_id, audience, context, subject, utm, service_announcement, schedule,
      messages_per_hour, missed_after_seconds, variants, test_percent, winner_by, decide_after_seconds, created_by)
    values (${broadcast.organizationId}, ${broadcast.id}, ${broadcast.name}, ${broadcast.flowId},
      ${JSON.stringify(broadcast.audience)}::jsonb, ${JSON.stringify(broadcast.context)}::jsonb,
      ${broadcast.subject}, ${broadcast.utm && JSON.stringify(broadcast.utm)}::jsonb, ${broadcast.serviceAnnouncement}, ${JSON.stringify(broadcast.schedule)}::jsonb, ${broadcast.messagesPerHour}, ${broadcast.missedAfterSeconds},
      ${JSON.stringify(broadcast.variants)}::jsonb, ${broadcast.testPercent}, ${broadcast.winnerBy},
      ${broadcast.decideAfterSeconds}, ${userOf(tx.actor)})`
}

export async function updateContent(
  tx: Tx,
  organizationId: OrganizationId,
  id: BroadcastId,
  content: BroadcastContent,
): Promise<void> {
  await tx`
    update broadcasts
    set name = ${content.name}, flow_id = ${content.flowId}, audience = ${JSON.stringify(content.audience)}::jsonb,
      context = ${JSON.stringify(content.context)}::jsonb, subject = ${content.subject},
      utm = ${content.utm && JSON.stringify(content.utm)}::jsonb,
      service_announcement = ${content.serviceAnnouncement}, schedule = ${JSON.stringify(content.schedule)}::jsonb,
      messages_per_hour = ${content.messagesPerHour}, missed_after_seconds = ${content.missedAfterSeconds},
      variants = ${JSON.stringify(content.variants)}::jsonb, test_percent = ${content.testPercent},
      winner_by = ${content.winnerBy}, decide_after_seconds = ${content.decideAfterSeconds}, revision = revision + 1,
      updated_at = now()
    where organization_id = ${organizationId} and id = ${id}`
}

export async function deleteBroadcast(tx: Tx, organizationId: OrganizationId, id: BroadcastId): Promise<void> {
  await tx`delete from broadcasts where organization_id = ${organizationId} and id = ${id}`
}

export type StatusChange = {
  status: BroadcastStatus
  reason?: string | null
  detail?: string | null
  startsAt?: Date
  flowVersionId?: FlowVersionId
}

/** Sets the status. Fields that are not given keep their value, except the reason, which is cleared. */
export async function updateStatus(
  tx: Tx,
  { organizationId, id }: Pick<Broadcast, 'organizationId' | 'id'>,
  { status, reason = null, detail = null, startsAt, flowVersionId }: StatusChange,
): Promise<void> {
  const isEnd = status === 'cancelled' || status === 'expired'
  if (status === 'sending')
    tx.send`
      update broadcasts set watched_since = now()
      where organization_id = ${organizationId} and id = ${id} and status = 'paused'`
  await tx`
    update broadcasts
    set status = ${status}, reason = ${reason}, detail = ${detail}, updated_at = now(),
      starts_at = coalesce(${startsAt ?? null}, starts_at),
      flow_version_id = coalesce(${flowVersionId ?? null}, flow_version_id),
      finished_at = ${isEnd ? sql`now()` : sql`finished_at`}
    where organization_id = ${organizationId} and id = ${id}`
}
