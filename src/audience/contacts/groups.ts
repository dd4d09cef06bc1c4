import { recordContactChanges } from '../../events/events.ts'
import { type Db, isUniqueViolation, type Reader, type Tx } from '../../platform/db/db.ts'
import type { Actor } from '../../platform/values/actor.ts'
import { conflict, existing, notFound, Refusal } from '../../platform/values/errors.ts'
import { type ContactId, type GroupId, newId, type OrganizationId, toText } from '../../platform/values/ids.ts'
import { checkName } from '../../platform/values/names.ts'
import { checkUnused } from '../segments/segments.ts'
import {
  countGroups,
  deleteGroup,
  deleteGroupMembers,
  deleteMembershipsOf,
  findGroup,
  type Group,
  groupExists,
  insertGroup,
  insertMemberships,
  lockAndSubscribe,
  updateGroup,
} from './groups.sql.ts'
import { type HistoryEntry, insertHistory, recordChange, sourceOf } from './history.ts'
import { lockAddresses, lockGroups } from './locks.ts'
import { inTransaction } from './transaction.ts'

const groupsMax = 1_000

export async function createGroup(db: Db, organizationId: OrganizationId, nameInput: string): Promise<Group> {
  const name = checkName(nameInput)
  if ((await countGroups(db, organizationId)) >= groupsMax)
    throw conflict(`An organization can have at most ${groupsMax} groups. Delete one that is no longer used.`)
  const group = await insertGroup(db.statement, organizationId, newId('grp'), name)
  if (!group) throw nameTaken()
  return group
}

/** Throws `Refusal` if the group does not exist. */
export async function checkGroup(db: Reader, organizationId: OrganizationId, id: GroupId): Promise<void> {
  if (!(await groupExists(db, organizationId, id))) throw notFound('group')
}

export const getGroup = (db: Db, organizationId: OrganizationId, id: GroupId) =>
  existing('group', findGroup(db, organizationId, id))

export async function renameGroup(db: Db, organizationId: OrganizationId, id: GroupId, nameInput: string) {
  const name = checkName(nameInput)
  const renamed = await updateGroup(db.statement, organizationId, id, name).catch((error) => {
    throw isUniqueViolation(error) ? nameTaken() : error
  })
  const group = await getGroup(db, organizationId, id)
  if (!renamed) throw nameTaken()
  return group
}

/** Deletes the group. Its contacts are kept. Throws `Refusal` if a segment uses the group. */
export async function removeGroup(db: Db, organizationId: OrganizationId, id: GroupId): Promise<void> {
  await checkUnused(db, organizationId, 'group', toText('grp', id))
  await inTransaction(db, async (tx) => {
    // Deletes the group first: transactions that add members hold a lock on it, so the second statement sees their
    // rows.
    if (!(await deleteGroup(tx, organizationId, id))) throw notFound('group')
    await deleteGroupMembers(tx, organizationId, id)
  })
}

/**
 * Adds all contacts or none, and returns how many were not members yet. Throws `Refusal` with the positions of unknown
 * contacts; undefined is a malformed id.
 */
export async function addToGroup(
  db: Db,
  organizationId: OrganizationId,
  groupId: GroupId,
  ids: readonly (ContactId | undefined)[],
  actor: Actor,
): Promise<number> {
  return inTransaction(db.by(actor), async (tx) => {
    if (!(await lockGroups(tx, organizationId, [groupId]))) throw notFound('group')
    const known = [...new Set(ids.filter((id) => id !== undefined))]
    const { existing, added } = await addMembers(tx, organizationId, groupId, known)
    const unknown = ids.flatMap((id, index) =>
      id && existing.has(id) ? [] : [{ path: `contact_ids.${index}`, problem: 'contact not found' }],
    )
    if (unknown.length > 0)
      throw new Refusal('not_found', 'Some of these contacts do not exist. No contact was added.', { fields: unknown })
    return added
  })
}

/** Adds contacts to a locked group. Returns which of them exist, and how many were not members yet. */
export async function addMembers(
  tx: Tx,
  organizationId: OrganizationId,
  groupId: GroupId,
  ids: ContactId[],
): Promise<{ existing: Set<ContactId>; added: number }> {
  const contacts = await lockAndSubscribe(tx, organizationId, ids)
  const subscribed = contacts.filter(({ isNewlySubscribed }) => isNewlySubscribed).map(({ id }) => id)
  recordChange(tx, organizationId, subscribed, { type: 'subscribed' })
  await recordContactChanges(tx, organizationId, sourceOf(tx), { subscribed })
  const existing = contacts.map(({ id }) => id)
  const added = await insertMemberships(tx, organizationId, [groupId], existing)
  return { existing: new Set(existing), added }
}

/** Adds a contact, locked by the transaction, to several groups. Throws `Refusal` if a group does not exist. */
export async function joinGroups(
  tx: Tx,
  organizationId: OrganizationId,
  groupIds: GroupId[],
  contactId: ContactId,
): Promise<void> {
  if (!(await lockGroups(tx, organizationId, groupIds))) throw notFound('group')
  await insertMemberships(tx, organizationId, groupIds, [contactId])
}

export async function removeFromGroup(
  db: Db,
  organizationId: OrganizationId,
  groupId: GroupId,
  contactId: ContactId,
  actor: Actor,
): Promise<void> {
  await inTransaction(db.by(actor), async (tx) => {
    if ((await removeMembers(tx, organizationId, groupId, [contactId])) === 0)
      throw new Refusal('not_found', 'The contact is not a member of this group.')
  })
}

/** Removes contacts from a group. Returns how many were members. */
export async function removeMembers(
  tx: Tx,
  organizationId: OrganizationId,
  groupId: GroupId,
  ids: ContactId[],
): Promise<number> {
  await lockAddresses(tx, organizationId, ids)
  const ended = await deleteMembershipsOf(tx, organizationId, groupId, ids)
  const details = { group_id: groupId }
  // The history gets the addition now, because the membership that has recorded it ends.
  const entries = ended.flatMap(({ contactId, addedAt: at, addedByType: type, addedById: id }): HistoryEntry[] => [
    { contactId, type: 'group_added', actor: { type, id }, at, details },
    { contactId, type: 'group_removed', details },
  ])
  insertHistory(tx, organizationId, entries)
  return ended.length
}

const nameTaken = () => conflict('A group with this name already exists.')
