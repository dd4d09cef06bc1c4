import type { Reader, Tx } from '../../platform/db/db.ts'
import { findByKeys, type RowKey } from '../../platform/db/find-by-keys.ts'
import { countRows, firstValue } from '../../platform/db/rows.ts'
import { sql } from '../../platform/db/sql.ts'
import type { ContactId, GroupId, ImportId, OrganizationId } from '../../platform/values/ids.ts'
import type { Subscription, SuppressionReason } from '../contacts/eligibility.ts'
import { createdSpan } from '../contacts/imported-contacts.ts'
import type { Import, Undo } from './imports.sql.ts'

/**
 * Returns the state of a pending undo and locks it until the end of the transaction. Returns undefined if it is done, or
 * if another worker has continued it beyond `step`.
 */
export const lockUndo = (tx: Tx, organizationId: OrganizationId, id: ImportId, step: number) =>
  firstValue(tx<{ undo: Undo }>`
    select undo from imports
    where organization_id = ${organizationId} and id = ${id} and undo ->> 'status' in ('queued', 'running')
      and (undo ->> 'step')::int = ${step}
    for update`)

/** Ends an undo that cannot be completed. What was undone stays undone. */
export async function failUndo(tx: Tx, organizationId: OrganizationId, id: ImportId): Promise<void> {
  const end = JSON.stringify({ status: 'failed', finishedAt: new Date().toISOString() })
  await tx`
    update imports set undo = undo || ${end}::jsonb
    where organization_id = ${organizationId} and id = ${id} and undo ->> 'status' in ('queued', 'running')`
}

export function updateUndo(tx: Tx, organizationId: OrganizationId, id: ImportId, undo: Undo): void {
  tx.send`
    update imports set undo = ${JSON.stringify(undo)}::jsonb where organization_id = ${organizationId} and id = ${id}`
}

export type CreatedContact = { id: ContactId; isUntouched: boolean }

type CreatedBy = { organizationId: OrganizationId; importId: ImportId; startedAt: Date; finishedAt: Date }

/**
 * Returns contacts that an import created, in the order of their ids, and locks them. A contact is untouched if since
 * then nobody changed it, emailed it or added it to another group.
 */
export async function lockCreated(
  tx: Tx,
  { organizationId, importId, startedAt, finishedAt }: CreatedBy,
  after: ContactId | null,
  limit: number,
): Promise<CreatedContact[]> {
  const [first, last] = createdSpan(startedAt, finishedAt)
  return tx<CreatedContact>`
    select id,
      (updated_at = created_at or (id, updated_at) in (
        select contact_id, at from import_changes
        where organization_id = ${organizationId} and import_id = ${importId} and contact_id is not null))
      and not exists (
        select from messages where messages.organization_id = ${organizationId} and messages.contact_id = contacts.id)
      and not exists (
        select from group_members
        where group_members.organization_id = ${organizationId} and group_members.contact_id = contacts.id
          and group_members.added_by_id is distinct from ${importId})
      and not exists (
        select from contact_history
        where contact_history.organization_id = ${organizationId} and contact_history.contact_id = contacts.id
          and contact_history.actor_id is distinct from ${importId}) as is_untouched
    from contacts
    where organization_id = ${organizationId} and created_by_type = 'import' and created_by_id = ${importId}
      and id > ${after ?? first} and id < ${last}
    order by id
    limit ${limit}
    for update`
}

/** Deletes contacts with their memberships and history. They have no messages. */
export function deleteCreated(tx: Tx, organizationId: OrganizationId, ids: readonly ContactId[]): void {
  tx.send`delete from contacts where organization_id = ${organizationId} and id = any (${ids}::uuid[])`
  tx.send`delete from group_members where organization_id = ${organizationId} and contact_id = any (${ids}::uuid[])`
  tx.send`delete from contact_history where organization_id = ${organizationId} and contact_id = any (${ids}::uuid[])`
}

/**
 * Removes suppressions that an import added. One that the recipient has confirmed since, by unsubscribing through an
 * email, stays.
 */
export const deleteImported = (
  tx: Tx,
  organizationId: OrganizationId,
  entries: readonly { email_key: string; reason: SuppressionReason }[],
) =>
  countRows(tx`
    delete from suppressions
    using unnest(${entries.map((entry) => entry.email_key)}::text[], ${entries.map((entry) => entry.reason)}::text[])
      as entry (email_key, reason)
    where suppressions.organization_id = ${organizationId} and suppressions.email_key = entry.email_key
      and suppressions.reason = entry.reason and suppressions.message_id is null and suppressions.detail = 'Imported'
    returning 1`)

export type ContactNow = {
  id: ContactId
  firstName: string | null
  lastName: string | null
  attributes: Record<string, unknown>
  subscription: Subscription
  hasUnsubscribed: boolean
}

/** Locks contacts and returns their present values. */
export const lockChanged = (tx: Tx, organizationId: OrganizationId, ids: readonly ContactId[]) =>
  tx<ContactNow>`
    select id, first_name, last_name, attributes, subscription, exists (
      select from suppressions
      where suppressions.organization_id = ${organizationId} and suppressions.email_key = contacts.email_key
        and suppressions.reason = 'unsubscribe') as has_unsubscribed
    from contacts
    where organization_id = ${organizationId} and id = any (${ids}::uuid[])
    order by email_key
    for no key update`

export type Restored = {
  id: ContactId
  firstName: string | null
  lastName: string | null
  subscription: Subscription
  /** Names of attributes to remove, and attributes to set afterwards. */
  removed: string[]
  restored: Record<string, unknown>
}

export function restoreContacts(tx: Tx, organizationId: OrganizationId, contacts: readonly Restored[]): void {
  tx.send`
    update contacts
    set first_name = before.first_name, last_name = before.last_name, subscription = before.subscription,
      attributes = (contacts.attributes - array(select jsonb_array_elements_text(before.removed::jsonb))) || before.restored::jsonb,
      updated_at = now()
    from unnest(
      ${contacts.map(({ id }) => id)}::uuid[],
      ${contacts.map(({ firstName }) => firstName)}::text[],
      ${contacts.map(({ lastName }) => lastName)}::text[],
      ${contacts.map(({ subscription }) => subscription)}::text[],
      ${contacts.map(({ removed }) => JSON.stringify(removed))}::text[],
      ${contacts.map(({ restored }) => JSON.stringify(restored))}::text[]
    ) as before (id, first_name, last_name, subscription, removed, restored)
    where contacts.organization_id = ${organizationId} and contacts.id = before.id`
}

/** Removes memberships that an import added, and returns them. */
export const deleteJoined = (
  tx: Tx,
  organizationId: OrganizationId,
  groupId: GroupId,
  importId: ImportId,
  limit: number,
) =>
  tx<{ contactId: ContactId; addedAt: Date }>`
    delete from group_members
    where organization_id = ${organizationId} and group_id = ${groupId} and contact_id in (
      select contact_id from group_members
      where organization_id = ${organizationId} and group_id = ${groupId}
        and added_by_type = 'import' and added_by_id = ${importId}
      limit ${limit})
    returning contact_id, added_at`

/** The imports of pending undo jobs, in the order of the keys. */
export const findUndoing = (db: Reader, keys: readonly RowKey[]) =>
  findByKeys<Import>(db, sql`imports`, keys, sql`undo ->> 'status' in ('queued', 'running')`)
