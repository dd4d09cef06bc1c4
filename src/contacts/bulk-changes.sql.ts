import type { Tx } from '../db/db.ts'
import type { EmailAddress } from '../values/email.ts'
import { type ContactId, type EventId, type GroupId, newId, type OrganizationId } from '../values/ids.ts'
import type { Actor, Change } from './history.ts'

export type ChangedContact = EmailAddress & { id: ContactId }

/** Locks the contacts in key order until the end of the transaction. Returns those that exist. */
export async function lockAddresses(
  tx: Tx,
  organizationId: OrganizationId,
  ids: ContactId[],
): Promise<ChangedContact[]> {
  return tx<ChangedContact>`
    select id, email, email_key from contacts
    where organization_id = ${organizationId} and id = any (${ids}::uuid[])
    order by email_key
    for no key update`
}

/** Returns the contacts that had not unsubscribed before. */
export async function unsubscribeMany(
  tx: Tx,
  organizationId: OrganizationId,
  ids: ContactId[],
): Promise<ChangedContact[]> {
  return tx<ChangedContact>`
    update contacts set subscription = 'unsubscribed', updated_at = now()
    where organization_id = ${organizationId} and id = any (${ids}::uuid[]) and subscription <> 'unsubscribed'
    returning id, email, email_key`
}

/** Suppresses addresses manually. Returns the keys of those that were not suppressed manually before. */
export async function suppressMany(
  tx: Tx,
  organizationId: OrganizationId,
  addresses: EmailAddress[],
): Promise<Set<string>> {
  const rows = await tx<{ emailKey: string }>`
    insert into suppressions (organization_id, email_key, reason, email)
    select ${organizationId}, email_key, 'manual', email
    from unnest(
      ${addresses.map(({ emailKey }) => emailKey)}::text[],
      ${addresses.map(({ email }) => email)}::text[]
    ) as address (email_key, email)
    order by email_key
    on conflict do nothing
    returning email_key`
  return new Set(rows.map(({ emailKey }) => emailKey))
}

export type EndedMembership = {
  contactId: ContactId
  addedAt: Date
  addedByType: Actor['type']
  addedById: string | null
}

export async function deleteMembershipsOf(
  tx: Tx,
  organizationId: OrganizationId,
  groupId: GroupId,
  ids: ContactId[],
): Promise<EndedMembership[]> {
  return tx<EndedMembership>`
    delete from group_members
    where organization_id = ${organizationId} and group_id = ${groupId} and contact_id = any (${ids}::uuid[])
    returning contact_id, added_at, coalesce(added_by_type, 'system') as added_by_type, added_by_id`
}

export type HistoryRow = {
  contactId: ContactId
  type: Change
  actor: { type: Actor['type']; id: string | null }
  details?: object
  /** Now if omitted. */
  at?: Date
  eventId?: EventId
}

/** Adds an entry to the history of each of many contacts. */
export async function insertHistoryRows(tx: Tx, organizationId: OrganizationId, rows: HistoryRow[]): Promise<void> {
  if (rows.length === 0) return
  await tx`
    insert into contact_history (organization_id, contact_id, at, id, type, actor_type, actor_id, details)
    select ${organizationId}, contact_id, coalesce(at, now()), id, type, actor_type, actor_id, details::jsonb
    from unnest(
      ${rows.map(({ contactId }) => contactId)}::uuid[],
      ${rows.map(({ at }) => at ?? null)}::timestamptz[],
      ${rows.map(({ eventId }) => eventId ?? newId('evt'))}::uuid[],
      ${rows.map(({ type }) => type)}::text[],
      ${rows.map(({ actor }) => actor.type)}::text[],
      ${rows.map(({ actor }) => actor.id)}::uuid[],
      ${rows.map(({ details, eventId }) => JSON.stringify({ ...details, ...(eventId && { is_event: true }) }))}::text[]
    ) as entry (contact_id, at, id, type, actor_type, actor_id, details)`
}
