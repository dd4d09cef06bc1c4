import type { Tx } from '../db/db.ts'
import { type Sql, sql } from '../db/sql.ts'
import { type ContactId, type EventId, type GroupId, newId, type OrganizationId } from '../values/ids.ts'
import type { Actor, Change } from './history.ts'

/** How many entries are kept per contact. */
const entriesMax = 1_000

export type HistoryEntry = {
  type: Change
  actor: Actor
  /** Names of changed fields, reasons of suppressions or the id of a group; never personal data. */
  details?: { fields?: string[]; reasons?: string[]; group_id?: GroupId }
  /** The event that records the same change. The timeline shows only the event, with this actor. */
  eventId?: EventId
  /** The present if omitted. */
  at?: Date
}

/** The address of the actor, if the organization stores addresses. */
const keptIp = (organizationId: OrganizationId, { ip }: Actor): Sql =>
  sql`(select ${ip ?? null}::text from organizations where id = ${organizationId} and keep_addresses)`

/**
 * Adds one entry to the history of one contact, and drops its oldest entries beyond the limit. An event gets one entry,
 * even if it is recorded again.
 */
export function insertHistory(
  tx: Tx,
  organizationId: OrganizationId,
  contactId: ContactId,
  { type, actor, details = {}, eventId, at }: HistoryEntry,
): void {
  tx.send`
    insert into contact_history (organization_id, contact_id, at, id, type, actor_type, actor_id, ip, details)
    select ${organizationId}::uuid, ${contactId}::uuid, coalesce(${at ?? null}::timestamptz, now()),
      ${eventId ?? newId('evt')}::uuid, ${type}::text, ${actor.type}::text, ${actor.id}::uuid,
      case when keep_addresses then ${actor.ip ?? null}::text end,
      ${JSON.stringify(eventId ? { ...details, is_event: true } : details)}::jsonb
    from organizations
    where id = ${organizationId}
    on conflict do nothing`
  tx.send`
    delete from contact_history
    where organization_id = ${organizationId} and contact_id = ${contactId} and (at, id) in (
      select at, id from contact_history
      where organization_id = ${organizationId} and contact_id = ${contactId}
      order by at desc, id desc
      offset ${entriesMax})`
}

/** Like `insertHistory`, for the contact with this address, if there is one. */
export async function insertHistoryByEmail(
  tx: Tx,
  organizationId: OrganizationId,
  emailKey: string,
  entry: HistoryEntry,
): Promise<void> {
  const [contact] = await tx<{ id: ContactId }>`
    select id from contacts where organization_id = ${organizationId} and email_key = ${emailKey}`
  if (contact) insertHistory(tx, organizationId, contact.id, entry)
}

/** Like `insertHistory`, for all contacts with these addresses, without the limit per contact. */
export function insertHistoryByEmails(
  tx: Tx,
  organizationId: OrganizationId,
  emailKeys: readonly string[],
  { type, actor, details }: HistoryEntry,
): void {
  const source = sql`contacts where organization_id = ${organizationId} and email_key = any (${emailKeys}::text[])`
  tx.send`${recordChange(organizationId, type, actor, source, details)}`
}

/** An insert of one entry per row of `source (id)`, for statements that change many contacts. */
export const recordChange = (
  organizationId: OrganizationId,
  type: Change,
  actor: Actor,
  source: Sql,
  details: HistoryEntry['details'] = {},
): Sql => sql`
  insert into contact_history (organization_id, contact_id, id, type, actor_type, actor_id, ip, details)
  select ${organizationId}, id, gen_random_uuid(), ${type}, ${actor.type}, ${actor.id}::uuid, ${keptIp(organizationId, actor)},
    ${JSON.stringify(details)}::jsonb
  from ${source}`

/**
 * Removes a contact from a group, and records in its history when it was added and removed, and by whom. Returns false
 * if it was not a member.
 */
export async function moveMembershipToHistory(
  tx: Tx,
  { organizationId, groupId, contactId }: { organizationId: OrganizationId; groupId: GroupId; contactId: ContactId },
  actor: Actor,
): Promise<boolean> {
  const [removed] = await tx<{ addedAt: Date; addedByType: string; addedById: string | null }>`
    delete from group_members
    where organization_id = ${organizationId} and group_id = ${groupId} and contact_id = ${contactId}
    returning added_at, coalesce(added_by_type, 'system') as added_by_type, added_by_id`
  if (!removed) return false
  tx.send`
    insert into contact_history (organization_id, contact_id, at, id, type, actor_type, actor_id, details)
    values (${organizationId}, ${contactId}, ${removed.addedAt}, gen_random_uuid(), 'group_added', ${removed.addedByType},
      ${removed.addedById}, jsonb_build_object('group_id', ${groupId}::text))`
  insertHistory(tx, organizationId, contactId, { type: 'group_removed', actor, details: { group_id: groupId } })
  return true
}
