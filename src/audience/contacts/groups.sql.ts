import { nameIsFree } from '../../platform/db/any-case.ts'
import type { Reader, Tx, Writer } from '../../platform/db/db.ts'
import { countRows, first, hasRows, onlyValue } from '../../platform/db/rows.ts'
import { sql } from '../../platform/db/sql.ts'
import type { ContactId, GroupId, OrganizationId } from '../../platform/values/ids.ts'
import type { Subscription } from './eligibility.ts'
import type { ActorType } from './history.ts'
import { subscriptionOnJoining } from './subscription.ts'

export type Group = { id: GroupId; name: string; memberCount: number; createdAt: Date }

/** Returns undefined if the name is taken. */
export const insertGroup = (db: Writer, organizationId: OrganizationId, id: GroupId, name: string) =>
  first(db<Group>`
    insert into groups (organization_id, id, name)
    select ${organizationId}, ${id}, ${name}
    where ${nameIsFree(sql`groups`, { organizationId, id }, name)}
    on conflict (organization_id, lower(name)) do nothing
    returning id, name, 0 as member_count, created_at`)

/** Returns the groups after a name, in the order of their names, which are unique without regard to case. */
export const selectGroups = (
  db: Reader,
  organizationId: OrganizationId,
  after: string | undefined,
  limit: number | undefined,
) =>
  db<Group>`
    select id, name, created_at, coalesce(member_count, 0) as member_count
    from groups
    left join (
      select group_id, count(*) as member_count from group_members
      where organization_id = ${organizationId}
      group by group_id
    ) as counts on counts.group_id = groups.id
    where organization_id = ${organizationId}
      and (${after ?? null}::text is null or lower(name) > lower(${after ?? null}))
    order by lower(name)
    limit ${limit ?? null}`

export const findGroup = (db: Reader, organizationId: OrganizationId, id: GroupId) =>
  first(db<Group>`
    select id, name, created_at, (
      select count(*) from group_members where organization_id = ${organizationId} and group_id = ${id}
    ) as member_count
    from groups
    where organization_id = ${organizationId} and id = ${id}`)

export const groupExists = (db: Reader, organizationId: OrganizationId, id: GroupId) =>
  hasRows(db`select from groups where organization_id = ${organizationId} and id = ${id}`)

export const countGroups = (db: Reader, organizationId: OrganizationId) =>
  onlyValue(db<{ count: number }>`select count(*) from groups where organization_id = ${organizationId}`)

/**
 * Returns false if the group does not exist or the name is taken. A concurrent request with the same name violates the
 * unique index instead.
 */
export const updateGroup = (db: Writer, organizationId: OrganizationId, id: GroupId, name: string) =>
  hasRows(db`
    update groups set name = ${name}, updated_at = now()
    where organization_id = ${organizationId} and id = ${id} and ${nameIsFree(sql`groups`, { organizationId, id }, name)}
    returning id`)

/** Returns false if the group does not exist. */
export const deleteGroup = (tx: Tx, organizationId: OrganizationId, id: GroupId) =>
  hasRows(tx`delete from groups where organization_id = ${organizationId} and id = ${id} returning id`)

export const deleteGroupMembers = (tx: Tx, organizationId: OrganizationId, id: GroupId) =>
  tx`delete from group_members where organization_id = ${organizationId} and group_id = ${id}`

export type LockedMember = { id: ContactId; isNewlySubscribed: boolean }

/**
 * Locks the contacts against erasure until the end of the transaction. Those that are `not_subscribed` become
 * subscribed, unless the address unsubscribed. Returns those that exist.
 */
export async function lockAndSubscribe(tx: Tx, organizationId: OrganizationId, ids: ContactId[]) {
  const rows = await tx<{ id: ContactId }>`
    select id from contacts
    where organization_id = ${organizationId} and id = any (${ids}::uuid[])
    order by email_key
    for no key update`
  const existing = rows.map(({ id }) => id)
  const changed = await tx<{ id: ContactId; subscription: Subscription }>`
    update contacts set subscription = ${subscriptionOnJoining(organizationId)}, updated_at = now()
    where organization_id = ${organizationId} and id = any (${existing}::uuid[]) and subscription = 'not_subscribed'
    returning id, subscription`
  const isNew = new Set(changed.filter(({ subscription }) => subscription === 'subscribed').map(({ id }) => id))
  return existing.map((id) => ({ id, isNewlySubscribed: isNew.has(id) }))
}

/** Returns how many memberships are new. */
export const insertMemberships = (
  tx: Tx,
  organizationId: OrganizationId,
  groupIds: GroupId[],
  contactIds: ContactId[],
) =>
  countRows(tx`
    insert into group_members (organization_id, group_id, contact_id, added_by_type, added_by_id)
    select ${organizationId}, group_id, contact_id, ${tx.actor.type}, ${tx.actor.id}::uuid
    from unnest(${groupIds}::uuid[]) as group_id, unnest(${contactIds}::uuid[]) as contact_id
    order by contact_id, group_id
    on conflict do nothing
    returning contact_id`)

export type EndedMembership = {
  contactId: ContactId
  addedAt: Date
  addedByType: ActorType
  addedById: string | null
}

export const deleteMembershipsOf = (tx: Tx, organizationId: OrganizationId, groupId: GroupId, ids: ContactId[]) =>
  tx<EndedMembership>`
    delete from group_members
    where organization_id = ${organizationId} and group_id = ${groupId} and contact_id = any (${ids}::uuid[])
    returning contact_id, added_at, coalesce(added_by_type, 'system') as added_by_type, added_by_id`
