import type { Reader, Tx } from '../../platform/db/db.ts'
import { type IdRange, inRange } from '../../platform/db/id-range.ts'
import { allValues, firstValue } from '../../platform/db/rows.ts'
import { sql } from '../../platform/db/sql.ts'
import type { BroadcastId, ContactId, OrganizationId } from '../../platform/values/ids.ts'
import type { Broadcast, Freezing, RecipientStatus } from '../broadcasts.sql.ts'
import { addToCounts } from './settle.sql.ts'

type Key = Pick<Broadcast, 'organizationId' | 'id'>

/** Which recipients of its range or zone a part sends: all, or first the sample and later the rest. */
export type PartRecipients = 'all' | 'sample' | 'rest'
export type NewPart = { part: number; zone: string | null; afterContact: ContactId; toContact: ContactId }

/** Returns the contacts at which the ledger is divided into `parts` ranges of about the same size: the last of each. */
export async function selectRangeEnds(
  db: Reader,
  { organizationId, id }: Key,
  recipients: number,
  parts: number,
): Promise<ContactId[]> {
  const ends: ContactId[] = []
  for (let part = 1; part < parts; part++) {
    const [row] = await db<{ contactId: ContactId }>`
      select contact_id from broadcast_recipients
      where organization_id = ${organizationId} and broadcast_id = ${id}
      order by contact_id
      offset ${Math.floor((recipients * part) / parts)} limit 1`
    if (row) ends.push(row.contactId)
  }
  return ends
}

export const selectLedgerZones = (db: Reader, { organizationId, id }: Key) =>
  allValues(db<{ zone: string }>`
    select zone from broadcast_recipients
    where organization_id = ${organizationId} and broadcast_id = ${id} and zone is not null
    group by zone
    order by zone`)

/** Replaces the parts of an earlier round, or of the sample. */
export async function replaceParts(
  tx: Tx,
  { organizationId, id }: Key,
  parts: readonly NewPart[],
  recipients: PartRecipients,
): Promise<void> {
  await tx`delete from broadcast_parts where organization_id = ${organizationId} and broadcast_id = ${id}`
  await tx`
    insert into broadcast_parts (organization_id, broadcast_id, part, zone, after_contact, to_contact, recipients)
    select ${organizationId}::uuid, ${id}::uuid, part, zone, after_contact, to_contact, ${recipients}::text
    from unnest(
      ${parts.map(({ part }) => part)}::int[],
      ${parts.map(({ zone }) => zone)}::text[],
      ${parts.map(({ afterContact }) => afterContact)}::uuid[],
      ${parts.map(({ toContact }) => toContact)}::uuid[]
    ) as part (part, zone, after_contact, to_contact)`
}

/** Returns the numbers of the parts that are not done. */
export const selectOpenParts = (db: Reader, organizationId: OrganizationId, id: BroadcastId) =>
  allValues(db<{ part: number }>`
    select part from broadcast_parts
    where organization_id = ${organizationId} and broadcast_id = ${id} and done_at is null
    order by part`)

/** Returns the last contact of the next `size` rows of the ledger, or undefined if no more than that are left. */
export const findLedgerSliceEnd = (db: Reader, { organizationId, id }: Key, after: ContactId, size: number) =>
  firstValue(db<{ contactId: ContactId }>`
    select contact_id from broadcast_recipients
    where organization_id = ${organizationId} and broadcast_id = ${id} and contact_id > ${after}
    order by contact_id
    offset ${size - 1} limit 1`)

export const updateFreezing = (tx: Tx, { organizationId, id }: Key, freezing: Freezing) =>
  tx`
    update broadcasts set freezing = ${JSON.stringify(freezing)}::jsonb, updated_at = now()
    where organization_id = ${organizationId} and id = ${id}`

/** Records that the recipients are frozen. */
export async function markFrozen(
  tx: Tx,
  { organizationId, id }: Key,
  { contacts, recipients }: Freezing,
): Promise<void> {
  await tx`
    update broadcasts
    set recipients = ${recipients}, excluded = ${Math.max(0, contacts - recipients)}, freezing = null, updated_at = now()
    where organization_id = ${organizationId} and id = ${id}`
  await setCounts(tx, { organizationId, id }, { pending: recipients })
}

/** Deletes rows of a ledger that was not completed. */
export const deleteRecipients = (tx: Tx, { organizationId, id }: Key, range: IdRange) =>
  tx`
    delete from broadcast_recipients
    where organization_id = ${organizationId} and broadcast_id = ${id} and ${inRange(range)(sql`contact_id`)}`

/** Records that nothing of an incomplete ledger is left. */
export const endFreezing = (tx: Tx, { organizationId, id }: Key) =>
  tx`update broadcasts set freezing = null where organization_id = ${organizationId} and id = ${id}`

/** Records that sending begins. */
export const markSending = (tx: Tx, { organizationId, id }: Key) =>
  tx`
    update broadcasts
    set status = 'sending', reason = null, detail = null, updated_at = now(), finished_at = null,
      started_at = least(started_at, now()), watched_since = now()
    where organization_id = ${organizationId} and id = ${id}`

export const markFinished = (tx: Tx, { organizationId, id }: Key, status: 'sent' | 'cancelled') =>
  tx`
    update broadcasts set status = ${status}, updated_at = now(), finished_at = now()
    where organization_id = ${organizationId} and id = ${id}`

/** Failed recipients will be sent in another round. */
export const beginRound = (tx: Tx, { organizationId, id }: Key) =>
  tx`update broadcasts set round = round + 1 where organization_id = ${organizationId} and id = ${id}`

type Changed = { organizationId: OrganizationId; broadcastId: BroadcastId; status: RecipientStatus }

/** Failed recipients of a range become pending. They keep the reason, in case they are not tried again. */
export async function resetFailed(tx: Tx, { organizationId, id }: Key, range: IdRange): Promise<void> {
  const rows = await tx<Changed>`
    update broadcast_recipients
    set status = 'pending', message_id = null
    where organization_id = ${organizationId} and broadcast_id = ${id} and ${inRange(range)(sql`contact_id`)}
      and status = 'failed'
    returning organization_id, broadcast_id, status`
  addToCounts(tx, 'failed', rows)
}

export type LedgerCounts = Partial<Record<RecipientStatus, number>>

/** Recipients of a range that were to be tried again are failed, as they were before. */
export const resetPending = (tx: Tx, key: Key, range: IdRange) => resetTo(tx, key, range, 'pending')

/** Of a retry whose deferred emails were cancelled. */
export const resetCancelled = (tx: Tx, key: Key, range: IdRange) => resetTo(tx, key, range, 'cancelled')

async function resetTo(
  tx: Tx,
  { organizationId, id }: Key,
  range: IdRange,
  from: 'pending' | 'cancelled',
): Promise<void> {
  const rows = await tx<Changed>`
    update broadcast_recipients set status = 'failed'
    where organization_id = ${organizationId} and broadcast_id = ${id} and ${inRange(range)(sql`contact_id`)}
      and status = ${from}
    returning organization_id, broadcast_id, status`
  addToCounts(tx, from, rows)
}

/** Counts the rows of a range of the ledger. */
export async function countLedger(db: Reader, { organizationId, id }: Key, range: IdRange): Promise<LedgerCounts> {
  const rows = await db<{ status: RecipientStatus; count: number }>`
    select status, count(*) from broadcast_recipients
    where organization_id = ${organizationId} and broadcast_id = ${id} and ${inRange(range)(sql`contact_id`)}
    group by status`
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]))
}

/**
 * Replaces the kept counts if they differ from the ledger. Every transaction that changes the ledger changes them as well, so
 * they can only differ if rows were lost or restored by other means. If they have changed since `before`, recipients
 * bounced while the rows were counted, and the kept ones stay.
 */
export async function repairCounts(
  tx: Tx,
  { organizationId, id }: Key,
  { before, counted }: { before: LedgerCounts; counted: LedgerCounts },
): Promise<void> {
  const kept = await tx<{ status: RecipientStatus; recipients: number }>`
    select status, recipients from broadcast_counts
    where organization_id = ${organizationId} and broadcast_id = ${id}
    order by status
    for update`
  if (kept.every(({ status, recipients }) => (before[status] ?? 0) === recipients))
    await setCounts(tx, { organizationId, id }, counted)
}

async function setCounts(tx: Tx, { organizationId, id }: Key, counts: LedgerCounts): Promise<void> {
  const entries = Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1))
  await tx`delete from broadcast_counts where organization_id = ${organizationId} and broadcast_id = ${id}`
  await tx`
    insert into broadcast_counts (organization_id, broadcast_id, status, recipients)
    select ${organizationId}::uuid, ${id}::uuid, status, recipients
    from unnest(${entries.map(([status]) => status)}::text[], ${entries.map(([, count]) => count)}::int8[])
      as counted (status, recipients)`
}

/** Copies the final status of deferred messages of a range into the ledger, if their worker has not. */
export async function reconcileQueued(tx: Tx, { organizationId, id }: Key, range: IdRange): Promise<void> {
  const rows = await tx<Changed>`
    update broadcast_recipients
    set reason = messages.reason,
      status = case
        when messages.status = 'suppressed' and messages.reason in ('unsubscribed', 'not_subscribed') then 'unsubscribed'
        when messages.status in ('sent', 'bounced', 'suppressed', 'cancelled') then messages.status
        else 'failed' end
    from messages
    where broadcast_recipients.organization_id = ${organizationId} and broadcast_recipients.broadcast_id = ${id}
      and ${inRange(range)(sql`broadcast_recipients.contact_id`)}
      and broadcast_recipients.status = 'queued' and messages.organization_id = ${organizationId}
      and messages.id = broadcast_recipients.message_id and messages.status <> 'queued'
    returning broadcast_recipients.organization_id, broadcast_recipients.broadcast_id, broadcast_recipients.status`
  addToCounts(tx, 'queued', rows)
}

/** Recipients of a range that were not sent become cancelled. */
export async function cancelPending(tx: Tx, { organizationId, id }: Key, range: IdRange): Promise<void> {
  const rows = await tx<Changed>`
    update broadcast_recipients set status = 'cancelled', reason = null
    where organization_id = ${organizationId} and broadcast_id = ${id} and ${inRange(range)(sql`contact_id`)}
      and status = 'pending'
    returning organization_id, broadcast_id, status`
  addToCounts(tx, 'pending', rows)
}
