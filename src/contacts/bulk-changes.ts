import type { Tx } from '../db/db.ts'
import { recordContactChanges } from '../events/contact-changes.ts'
import { recordApiUnsubscriptions } from '../events/unsubscription.ts'
import { Refusal } from '../values/errors.ts'
import { type ContactId, type GroupId, newId, type OrganizationId } from '../values/ids.ts'
import {
  deleteMembershipsOf,
  insertHistoryRows,
  lockAddresses,
  suppressMany,
  unsubscribeMany,
} from './bulk-changes.sql.ts'
import { insertMemberships, lockContacts } from './groups.sql.ts'
import { type Actor, sourceOf } from './history.ts'
import { lockGroups } from './members.sql.ts'
import { insertSuppressions } from './suppressions.sql.ts'

// Changes to many contacts in one transaction. Each returns how many contacts were changed; contacts that do not exist
// are skipped. All of them lock the contacts in key order, so that they cannot deadlock.

/** Throws `Refusal` if the group does not exist. */
export async function addManyToGroup(
  tx: Tx,
  organizationId: OrganizationId,
  groupId: GroupId,
  ids: ContactId[],
  actor: Actor,
): Promise<number> {
  if (!(await lockGroups(tx, organizationId, [groupId])))
    throw new Refusal('not_found', 'The group was deleted while contacts were being added.')
  const locked = await lockContacts(tx, organizationId, ids, actor)
  const subscribed = locked.filter(({ isNewlySubscribed }) => isNewlySubscribed).map(({ id }) => id)
  await recordContactChanges(tx, organizationId, sourceOf(actor), { subscribed })
  const members = locked.map(({ id }) => id)
  return insertMemberships(tx, organizationId, [groupId], members, actor)
}

/** Records in the history of each contact when it was added to the group and removed, and by whom. */
export async function removeManyFromGroup(
  tx: Tx,
  organizationId: OrganizationId,
  groupId: GroupId,
  ids: ContactId[],
  actor: Actor,
): Promise<number> {
  await lockAddresses(tx, organizationId, ids)
  const ended = await deleteMembershipsOf(tx, organizationId, groupId, ids)
  const details = { group_id: groupId }
  await insertHistoryRows(
    tx,
    organizationId,
    ended.flatMap(({ contactId, addedAt, addedByType, addedById }) => [
      { contactId, type: 'group_added', actor: { type: addedByType, id: addedById }, at: addedAt, details } as const,
      { contactId, type: 'group_removed', actor, details } as const,
    ]),
  )
  return ended.length
}

/** Records an event per contact, as when a single contact is unsubscribed in the app. */
export async function unsubscribeContacts(
  tx: Tx,
  organizationId: OrganizationId,
  ids: ContactId[],
  actor: Actor,
): Promise<number> {
  await lockAddresses(tx, organizationId, ids)
  const changed = await unsubscribeMany(tx, organizationId, ids)
  if (changed.length === 0) return 0
  const entry = { organizationId, reason: 'unsubscribe', detail: null, messageId: null } as const
  await insertSuppressions(
    tx,
    changed.map(({ email, emailKey }) => ({ ...entry, email, emailKey })),
  )
  const events = changed.map(({ id }) => ({ id: newId('evt'), contactId: id }))
  await insertHistoryRows(
    tx,
    organizationId,
    events.map(({ id, contactId }) => ({ contactId, type: 'unsubscribed', actor, eventId: id })),
  )
  await recordApiUnsubscriptions(tx, organizationId, events)
  return changed.length
}

export async function suppressContacts(
  tx: Tx,
  organizationId: OrganizationId,
  ids: ContactId[],
  actor: Actor,
): Promise<number> {
  const contacts = await lockAddresses(tx, organizationId, ids)
  const added = await suppressMany(tx, organizationId, contacts)
  await insertHistoryRows(
    tx,
    organizationId,
    contacts
      .filter(({ emailKey }) => added.has(emailKey))
      .map(({ id }) => ({ contactId: id, type: 'suppressed', actor, details: { reasons: ['manual'] } })),
  )
  return added.size
}
