import type { Reader, Tx } from '../db/db.ts'
import type { BroadcastId, ContactId, MessageId, OrganizationId } from '../values/ids.ts'
import type { Broadcast, RecipientStatus } from './broadcasts.sql.ts'

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

export async function selectLedgerZones(db: Reader, { organizationId, id }: Key): Promise<string[]> {
  const rows = await db<{ zone: string }>`
    select zone from broadcast_recipients
    where organization_id = ${organizationId} and broadcast_id = ${id} and zone is not null
    group by zone
    order by zone`
  return rows.map(({ zone }) => zone)
}

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
export async function selectOpenParts(db: Reader, organizationId: OrganizationId, id: BroadcastId): Promise<number[]> {
  const rows = await db<{ part: number }>`
    select part from broadcast_parts
    where organization_id = ${organizationId} and broadcast_id = ${id} and done_at is null
    order by part`
  return rows.map(({ part }) => part)
}

export type Frozen = { recipients: number; excluded: number }

/** Records that the recipients are frozen. */
export async function markFrozen(tx: Tx, { organizationId, id }: Key, { recipients, excluded }: Frozen): Promise<void> {
  await tx`
    update broadcasts
    set recipients = ${recipients}, excluded = ${excluded}, updated_at = now()
    where organization_id = ${organizationId} and id = ${id}`
  await setCounts(tx, { organizationId, id }, { pending: recipients })
}

/** Records that sending begins. */
export async function markSending(tx: Tx, { organizationId, id }: Key): Promise<void> {
  await tx`
    update broadcasts
    set status = 'sending', reason = null, detail = null, updated_at = now(), finished_at = null,
      started_at = least(started_at, now()), watched_since = now()
    where organization_id = ${organizationId} and id = ${id}`
}

export async function markFinished(tx: Tx, { organizationId, id }: Key, status: 'sent' | 'cancelled'): Promise<void> {
  await tx`
    update broadcasts set status = ${status}, updated_at = now(), finished_at = now()
    where organization_id = ${organizationId} and id = ${id}`
}

/** Failed recipients become pending, to be sent in another round. */
export async function resetFailed(tx: Tx, { organizationId, id }: Key): Promise<void> {
  await tx`
    update broadcast_recipients
    set status = 'pending', reason = null, message_id = null
    where organization_id = ${organizationId} and broadcast_id = ${id} and status = 'failed'`
  await tx`
    update broadcasts set round = round + 1 where organization_id = ${organizationId} and id = ${id}`
  await recount(tx, { organizationId, id })
}

export type LedgerCounts = Partial<Record<RecipientStatus, number>>

/**
 * Counts the rows of the ledger and replaces the kept counts, which are locked first: a transaction that
 * changes the ledger changes them last, and if it was committed in between, its change would be lost.
 */
export async function recount(tx: Tx, key: Key): Promise<LedgerCounts> {
  const { organizationId, id } = key
  await tx`
    select from broadcast_counts
    where organization_id = ${organizationId} and broadcast_id = ${id}
    order by status
    for update`
  const counts = await countLedger(tx, key)
  await setCounts(tx, key, counts)
  return counts
}

/** Reads all rows. */
async function countLedger(db: Reader, { organizationId, id }: Key): Promise<LedgerCounts> {
  const rows = await db<{ status: RecipientStatus; count: number }>`
    select status, count(*) from broadcast_recipients
    where organization_id = ${organizationId} and broadcast_id = ${id}
    group by status`
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]))
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

/** Takes over the status of deferred messages that were not ended by the worker that sends them. */
export async function reconcileQueued(tx: Tx, { organizationId, id }: Key): Promise<void> {
  await tx`
    update broadcast_recipients
    set reason = messages.reason,
      status = case
        when messages.status = 'suppressed' and messages.reason in ('unsubscribed', 'not_subscribed') then 'unsubscribed'
        when messages.status in ('sent', 'bounced', 'suppressed', 'cancelled') then messages.status
        else 'failed' end
    from messages
    where broadcast_recipients.organization_id = ${organizationId} and broadcast_recipients.broadcast_id = ${id}
      and broadcast_recipients.status = 'queued' and messages.organization_id = ${organizationId}
      and messages.id = broadcast_recipients.message_id and messages.status <> 'queued'`
}

/** Everything that is not sent becomes cancelled. */
export async function cancelPending(tx: Tx, { organizationId, id }: Key): Promise<void> {
  await tx`
    update broadcast_recipients set status = 'cancelled'
    where organization_id = ${organizationId} and broadcast_id = ${id} and status = 'pending'`
}

export type RecipientRow = {
  contactId: ContactId
  email: string | null
  status: RecipientStatus
  reason: string | null
  messageId: MessageId | null
  variant: number | null
}

/** A page of the ledger, in the order of contacts. */
export async function selectRecipients(
  db: Reader,
  { organizationId, id }: Key,
  { status, after, limit }: { status: RecipientStatus | undefined; after: ContactId | undefined; limit: number },
): Promise<RecipientRow[]> {
  return db<RecipientRow>`
    select recipient.contact_id, contacts.email, recipient.status, recipient.reason, recipient.message_id,
      recipient.variant
    from (
      select organization_id, contact_id, status, reason, message_id, variant
      from broadcast_recipients
      where organization_id = ${organizationId} and broadcast_id = ${id}
        and (${status ?? null}::text is null or status = ${status ?? null})
        and (${after ?? null}::uuid is null or contact_id > ${after ?? null})
      order by contact_id
      limit ${limit}
    ) as recipient
    left join contacts on contacts.organization_id = recipient.organization_id and contacts.id = recipient.contact_id
    order by recipient.contact_id`
}
