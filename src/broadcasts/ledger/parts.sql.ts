import { type Standing, suppressedBy } from '../../audience/audience.ts'
import type { Reader, Tx, Writer } from '../../platform/db/db.ts'
import { allValues, firstValue, only } from '../../platform/db/rows.ts'
import { sql } from '../../platform/db/sql.ts'
import type { BroadcastId, ContactId, MessageId, OrganizationId } from '../../platform/values/ids.ts'
import type { Broadcast, BroadcastStatus } from '../broadcasts.sql.ts'
import type { PartRecipients } from './ledger.sql.ts'

/** A chunk that was started: it ends at this contact, and its messages have this time. */
export type Chunk = { to: ContactId; at: Date }

export type Part = {
  organizationId: OrganizationId
  broadcastId: BroadcastId
  part: number
  zone: string | null
  recipients: PartRecipients
  afterContact: ContactId
  toContact: ContactId
  chunks: Chunk[]
  revision: number
  doneAt: Date | null
}

export type PartKey = Pick<Part, 'organizationId' | 'broadcastId' | 'part'>

export async function findPart(db: Reader, { organizationId, broadcastId, part }: PartKey): Promise<Part | undefined> {
  const [row] = await db<Part & { chunks: { to: ContactId; at: number }[] }>`
    select organization_id, broadcast_id, part, zone, recipients, after_contact, to_contact, chunks, revision, done_at
    from broadcast_parts
    where organization_id = ${organizationId} and broadcast_id = ${broadcastId} and part = ${part}`
  return row && { ...row, chunks: row.chunks.map(({ to, at }) => ({ to, at: new Date(at) })) }
}

/** Returns false if another worker has changed the part: this one has lost its lease. */
export async function updatePart(
  db: Writer,
  { organizationId, broadcastId, part, revision, afterContact, chunks }: Part,
): Promise<boolean> {
  const stored = JSON.stringify(chunks.map(({ to, at }) => ({ to, at: +at })))
  const rows = await db`
    update broadcast_parts
    set after_contact = ${afterContact}, chunks = ${stored}::jsonb, revision = ${revision + 1}
    where organization_id = ${organizationId} and broadcast_id = ${broadcastId} and part = ${part}
      and revision = ${revision} and done_at is null
    returning part`
  return rows.length > 0
}

export const markPartDone = (tx: Tx, { organizationId, broadcastId, part }: PartKey) =>
  tx`
    update broadcast_parts set done_at = now()
    where organization_id = ${organizationId} and broadcast_id = ${broadcastId} and part = ${part}`

/** Reserves the time for some emails at the rate of the broadcast. Returns the wait in ms if it is not their turn yet. */
export async function reserveRate(
  tx: Tx,
  { organizationId, id }: Pick<Broadcast, 'organizationId' | 'id'>,
  emails: number,
  perHour: number,
): Promise<number> {
  const [row] = await tx<{ waitMs: number; nextChunkAt: Date }>`
    select coalesce(ceil(extract(epoch from next_chunk_at - now()) * 1000), 0)::int8 as wait_ms,
      greatest(next_chunk_at, now()) + ${(emails * 3_600) / perHour}::float8 * interval '1 second' as next_chunk_at
    from broadcasts
    where organization_id = ${organizationId} and id = ${id}
    for no key update`
  if (!row) return 1
  if (row.waitMs > 0) return row.waitMs
  await tx`
    update broadcasts set next_chunk_at = ${row.nextChunkAt}
    where organization_id = ${organizationId} and id = ${id}`
  return 0
}

export type PendingRecipient = Standing & {
  contactId: ContactId
  /** The position of the variant; null outside the sample. */
  variant: number | null
  /** Null if the contact was erased. */
  email: string | null
  firstName: string | null
  lastName: string | null
  attributes: Record<string, unknown> | null
}

/** Returns pending recipients of a part in the order of their contacts. */
export async function selectPending(
  db: Reader,
  { organizationId, broadcastId, zone, recipients }: Part,
  { after, to, limit }: { after: ContactId; to: ContactId; limit: number },
): Promise<PendingRecipient[]> {
  const inZone = zone === null ? sql`` : sql`and zone = ${zone}`
  const inTest =
    recipients === 'all' ? sql`` : recipients === 'sample' ? sql`and variant is not null` : sql`and variant is null`
  return db<PendingRecipient>`
    select recipient.contact_id, recipient.variant, contacts.email, contacts.first_name, contacts.last_name, contacts.attributes,
      contacts.subscription,
      ${suppressedBy(organizationId)} as suppressed_by
    from (
      select contact_id, variant from broadcast_recipients
      where organization_id = ${organizationId} and broadcast_id = ${broadcastId}
        and contact_id > ${after} and contact_id <= ${to} and status = 'pending' ${inZone} ${inTest}
      order by contact_id
      limit ${limit}
    ) as recipient
    -- "offset 0" keeps the planner from scanning whole tables while their statistics are out of date.
    left join lateral (
      select * from contacts where organization_id = ${organizationId} and id = recipient.contact_id offset 0
    ) as contacts on true
    order by recipient.contact_id`
}

/** Returns `cancelled` if the organization was deleted, and undefined if the broadcast was erased with it. */
export const findStatus = (db: Reader, organizationId: OrganizationId, id: BroadcastId) =>
  firstValue(db<{ status: BroadcastStatus }>`
    select case when organizations.deleted_at is null then broadcasts.status else 'cancelled' end as status
    from broadcasts
    join organizations on organizations.id = broadcasts.organization_id
    where broadcasts.organization_id = ${organizationId} and broadcasts.id = ${id}`)

/** Returns those of the broadcasts that are cancelled. */
export const selectCancelled = (
  db: Reader,
  keys: readonly { organizationId: OrganizationId; broadcastId: BroadcastId }[],
) =>
  allValues(db<{ id: BroadcastId }>`
    select id
    from unnest(${keys.map((key) => key.organizationId)}::uuid[], ${keys.map((key) => key.broadcastId)}::uuid[])
      as key (organization_id, id)
    join broadcasts using (organization_id, id)
    where status = 'cancelled'`)

export type RecentReactions = { messages: number; hardBounces: number; complaints: number }

/** Counts the hard bounces and complaints of the last `limit` emails of a broadcast. */
export const countRecentReactions = (
  db: Reader,
  { organizationId, id, flowId }: Pick<Broadcast, 'organizationId' | 'id' | 'flowId'>,
  since: MessageId,
  limit: number,
) =>
  only(db<RecentReactions>`
    select count(distinct recent.id) as messages,
      count(*) filter (where event_name = 'emailHardBounce') as hard_bounces,
      count(*) filter (where event_name = 'emailComplaint') as complaints
    from (
      select messages.id from messages
      where organization_id = ${organizationId} and flow_id = ${flowId} and messages.id >= ${since}
        and broadcast_id = ${id}
      order by messages.id desc
      limit ${limit}
    ) as recent
    left join first_occurrences on first_occurrences.organization_id = ${organizationId}
      and first_occurrences.subject_id = recent.id
      and first_occurrences.event_name in ('emailHardBounce', 'emailComplaint')`)

/** Returns the time since which the emails of a broadcast count for the brake. */
export async function findWatchedSince(
  db: Reader,
  organizationId: OrganizationId,
  id: BroadcastId,
): Promise<Date | undefined> {
  const [row] = await db<{ watchedSince: Date | null }>`
    select watched_since from broadcasts where organization_id = ${organizationId} and id = ${id}`
  return row?.watchedSince ?? undefined
}
