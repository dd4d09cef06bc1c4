import type { Reader, Tx, Writer } from '../../platform/db/db.ts'
import { findByKeys, type RowKey } from '../../platform/db/find-by-keys.ts'
import { firstContactId, type IdRange, inRange } from '../../platform/db/id-range.ts'
import { allValues, first, firstValue, hasRows, onlyValue } from '../../platform/db/rows.ts'
import { and, sql } from '../../platform/db/sql.ts'
import type { BulkActionId, ContactId, GroupId, OrganizationId } from '../../platform/values/ids.ts'
import { type ContactFilter, contactConditions } from '../contacts/contact-filter.ts'
import type { ActorType } from '../contacts/history.ts'

export const bulkActionNames = ['add_to_group', 'remove_from_group', 'unsubscribe', 'suppress', 'erase'] as const
type BulkActionName = (typeof bulkActionNames)[number]
type BulkActionStatus = 'queued' | 'running' | 'done' | 'failed' | 'cancelled'

/** The chosen contacts, or all that match a filter when the action starts. */
export type Selection = { contactIds: ContactId[] } | { filter: ContactFilter }

export type BulkAction = {
  organizationId: OrganizationId
  id: BulkActionId
  action: BulkActionName
  groupId: GroupId | null
  selection: Selection
  status: BulkActionStatus
  reason: string | null
  total: number | null
  /** How far the contacts are selected. */
  selectedTo: ContactId | null
  processed: number
  changed: number
  actorType: ActorType
  actorId: string | null
  createdAt: Date
  finishedAt: Date | null
}

export type NewBulkAction = Pick<BulkAction, 'organizationId' | 'id' | 'action' | 'groupId' | 'selection'>

export const insertBulkAction = (tx: Tx, record: NewBulkAction) =>
  tx`
    insert into bulk_actions (organization_id, id, action, group_id, selection, status, actor_type, actor_id)
    values (${record.organizationId}, ${record.id}, ${record.action}, ${record.groupId},
      ${JSON.stringify(record.selection)}, 'queued', ${tx.actor.type}, ${tx.actor.id})`

/** Newest first. */
export const selectBulkActions = (db: Reader, organizationId: OrganizationId, limit: number) =>
  db<BulkAction>`
    select * from bulk_actions where organization_id = ${organizationId} order by id desc limit ${limit}`

export const findBulkAction = (db: Reader, organizationId: OrganizationId, id: BulkActionId) =>
  first(db<BulkAction>`
    select * from bulk_actions where organization_id = ${organizationId} and id = ${id}`)

export const countUnfinished = (db: Reader, organizationId: OrganizationId) =>
  onlyValue(db<{ count: number }>`
    select count(*) from bulk_actions where organization_id = ${organizationId} and finished_at is null`)

/** Deletes the records of actions that finished long ago. */
export const pruneBulkActions = (db: Writer, organizationId: OrganizationId, daysMax: number) =>
  db`
    delete from bulk_actions
    where organization_id = ${organizationId} and finished_at < now() - ${daysMax} * interval '1 day'`

/** Returns the actions in the order of the keys; undefined for those that are deleted. */
export const findBulkActions = (db: Reader, keys: readonly RowKey[]) =>
  findByKeys<BulkAction>(db, sql`bulk_actions`, keys)

/** Locks the action until the end of the transaction. Returns undefined if it has finished. */
export const lockBulkAction = (tx: Tx, organizationId: OrganizationId, id: BulkActionId) =>
  first(tx<BulkAction>`
    select * from bulk_actions
    where organization_id = ${organizationId} and id = ${id} and finished_at is null
    for update`)

/** Returns the last of the next `size` contacts of an organization, or undefined if no more than that are left. */
export const findContactSliceEnd = (db: Reader, organizationId: OrganizationId, after: ContactId, size: number) =>
  firstValue(db<{ id: ContactId }>`
    select id from contacts where organization_id = ${organizationId} and id > ${after}
    order by id
    offset ${size - 1} limit 1`)

/** Stores which contacts of a range an action applies to. Contacts that do not exist are left out. */
export async function insertSelectedContacts(
  tx: Tx,
  { organizationId, id, selection }: Pick<BulkAction, 'organizationId' | 'id' | 'selection'>,
  range: IdRange,
): Promise<void> {
  const among = inRange(range)
  const condition =
    'contactIds' in selection
      ? sql`contacts.id = any (${selection.contactIds}::uuid[])`
      : and(contactConditions(organizationId, selection.filter, { among }))
  await tx`
    insert into bulk_action_contacts (organization_id, bulk_action_id, contact_id)
    select contacts.organization_id, ${id}, contacts.id from contacts
    where contacts.organization_id = ${organizationId} and ${among(sql`contacts.id`)} and ${condition}`
}

/** Records how far the contacts are selected. Returns false if the action has finished or another worker continues. */
export const updateSelectedTo = (
  tx: Tx,
  { organizationId, id }: Pick<BulkAction, 'organizationId' | 'id'>,
  { after, to }: IdRange,
) =>
  hasRows(tx`
    update bulk_actions set status = 'running', selected_to = ${to}
    where organization_id = ${organizationId} and id = ${id} and finished_at is null
      and coalesce(selected_to, ${firstContactId}) = ${after}
    returning id`)

export const setTotal = (tx: Tx, organizationId: OrganizationId, id: BulkActionId) =>
  tx`
    update bulk_actions set status = 'running', total = (
      select count(*) from bulk_action_contacts where organization_id = ${organizationId} and bulk_action_id = ${id})
    where organization_id = ${organizationId} and id = ${id}`

export const selectNextContacts = (db: Reader, organizationId: OrganizationId, id: BulkActionId, limit: number) =>
  allValues(db<{ contactId: ContactId }>`
    select contact_id from bulk_action_contacts
    where organization_id = ${organizationId} and bulk_action_id = ${id}
    order by contact_id
    limit ${limit}`)

/** Records that contacts were processed, `changed` of which had not been in the wanted state. */
export async function recordProcessed(
  tx: Tx,
  organizationId: OrganizationId,
  id: BulkActionId,
  contactIds: ContactId[],
  changed: number,
): Promise<void> {
  await tx`
    delete from bulk_action_contacts
    where organization_id = ${organizationId} and bulk_action_id = ${id} and contact_id = any (${contactIds}::uuid[])`
  await tx`
    update bulk_actions set processed = processed + ${contactIds.length}, changed = changed + ${changed}
    where organization_id = ${organizationId} and id = ${id}`
}

/** Returns false, and changes nothing, if the action had finished before. */
export const finishBulkAction = (
  tx: Tx,
  organizationId: OrganizationId,
  id: BulkActionId,
  status: 'done' | 'failed' | 'cancelled',
  reason: string | null,
) =>
  hasRows(tx`
    update bulk_actions set status = ${status}, reason = ${reason}, finished_at = now()
    where organization_id = ${organizationId} and id = ${id} and finished_at is null
    returning id`)

/** Deletes contacts that a finished action has not processed. Returns how many. */
export async function deleteSelected(tx: Tx, organizationId: OrganizationId, id: BulkActionId, limit: number) {
  const ids = await selectNextContacts(tx, organizationId, id, limit)
  await tx`
    delete from bulk_action_contacts
    where organization_id = ${organizationId} and bulk_action_id = ${id} and contact_id = any (${ids}::uuid[])`
  return ids.length
}
