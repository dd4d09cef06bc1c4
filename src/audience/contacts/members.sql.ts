import { transactionTime } from '../../platform/db/cluster/shards.ts'
import type { Tx } from '../../platform/db/db.ts'
import { type Sql, sql } from '../../platform/db/sql.ts'
import type { ContactId, GroupId, OrganizationId } from '../../platform/values/ids.ts'
import { attributeKeysMax, attributesBytesMax, type ContactBefore } from './fields.ts'
import { insertMemberships } from './groups.sql.ts'
import { recordChange } from './history.ts'
import type { Member } from './member-input.ts'
import { subscriptionOnJoining } from './subscription.ts'

/** Where new and `not_subscribed` contacts go. */
export type Destination = { groupId: GroupId | null; subscription: 'subscribed' | 'not_subscribed' }

/** Returns an empty array for a column of nulls, because `unnest` pads it. */
const column = (values: (string | null)[]) => (values.every((value) => value === null) ? [] : values)

/** `given (id, email_key, email, first_name, last_name, attributes)`; email is null if it equals its key. */
const givenMembers = (members: Member[]): Sql => sql`
  given as (
    select * from unnest(
      ${members.map((member) => member.id)}::uuid[],
      ${members.map((member) => member.emailKey)}::text[],
      ${column(members.map((member) => (member.email === member.emailKey ? null : member.email)))}::text[],
      ${column(members.map((member) => member.firstName ?? null))}::text[],
      ${column(members.map((member) => member.lastName ?? null))}::text[],
      ${column(members.map((member) => member.attributes ?? null))}::text[]
    ) as given (id, email_key, email, first_name, last_name, attributes)
  )`

/**
 * Inserts the members that are not contacts yet, adds them to the group, if there is one, and returns how many they
 * were. An address that unsubscribed before its contact was erased is created as unsubscribed. Rows are inserted in key
 * order, so that concurrent requests cannot deadlock.
 */
export async function insertMembers(
  tx: Tx,
  organizationId: OrganizationId,
  { groupId, subscription }: Destination,
  members: Member[],
): Promise<number> {
  const createdAt = await transactionTime(tx)
  const created = await tx<{ id: ContactId }>`
    with ${givenMembers(members)}
    insert into contacts (organization_id, id, email, email_key, first_name, last_name, attributes, subscription,
      created_at, updated_at, created_by_type, created_by_id, created_subscribed)
    select ${organizationId}, given.id, coalesce(given.email, given.email_key), given.email_key,
      nullif(first_name, ''), nullif(last_name, ''), coalesce(attributes::jsonb, '{}'),
      case when unsubscription.email_key is null then ${subscription} else 'unsubscribed' end,
      coalesce(${createdAt}::timestamptz, now()), coalesce(${createdAt}::timestamptz, now()), ${tx.actor.type}, ${tx.actor.id}::uuid,
      unsubscription.email_key is null and ${subscription} = 'subscribed'
    from given
    left join suppressions as unsubscription on unsubscription.organization_id = ${organizationId}
      and unsubscription.email_key = given.email_key and unsubscription.reason = 'unsubscribe'
    order by given.email_key
    on conflict (organization_id, email_key) do nothing
    returning id`
  const ids = created.map(({ id }) => id)
  if (groupId && ids.length > 0) await insertMemberships(tx, organizationId, [groupId], ids)
  return ids.length
}

/**
 * Whether the attributes of a contact stay within their limits after the merge. PostgreSQL writes a space after each
 * colon and comma; spaces on the first level are not counted.
 */
const attributesFit = sql`(attributes is null or previous_attributes @> attributes or (
  select count(*) <= ${attributeKeysMax}
    and octet_length((previous_attributes || attributes)::text) - 2 * count(*) < ${attributesBytesMax}
  from jsonb_object_keys(previous_attributes || attributes)))`

const changedFields = sql`array_remove(array[
  case when next_first_name is distinct from previous_first_name then 'first_name' end,
  case when next_last_name is distinct from previous_last_name then 'last_name' end,
  case when previous_attributes || attributes <> previous_attributes then 'attributes' end], null)`

/** What the update changes, as a `ContactBefore`. */
const changeOf = sql`jsonb_build_object(
  'first_name', case when next_first_name is distinct from previous_first_name
    then jsonb_build_array(previous_first_name, next_first_name) end,
  'last_name', case when next_last_name is distinct from previous_last_name
    then jsonb_build_array(previous_last_name, next_last_name) end,
  'subscription', case when next_subscription <> previous_subscription
    then jsonb_build_array(previous_subscription, next_subscription) end,
  'attributes', (
    select jsonb_object_agg(key, case when previous_attributes ? key
      then jsonb_build_array(value, previous_attributes -> key) else jsonb_build_array(value) end)
    from jsonb_each(attributes)
    where previous_attributes -> key is distinct from value))`

type LockedMember = {
  id: ContactId
  emailKey: string
  /** It is not in the group yet. */
  joins: boolean
  changes: boolean
  fits: boolean
  isNewlySubscribed: boolean
  fields: string[] | null
  change: ContactBefore | null
}
export type ChangedMember = { id: ContactId; fields: string[]; isNewlySubscribed: boolean; change: ContactBefore }
/** `tooLarge` are address keys. `changed` is empty unless it was requested. */
export type UpdatedMembers = { added: number; tooLarge: string[]; changed: ChangedMember[] }

/**
 * Updates the members that were contacts before `insertMembers`, adds them to the group, and returns how many were not
 * in it, and the keys of those whose attributes would become too large, which are not stored. Only rows that change are
 * locked: repeating a request writes nothing.
 */
export async function updateMembers(
  tx: Tx,
  organizationId: OrganizationId,
  destination: Destination,
  members: Member[],
  { returnsChanged }: { returnsChanged: boolean },
): Promise<UpdatedMembers> {
  const locked = await lockMembers(tx, organizationId, destination, members, { returnsChanged })
  const stored = locked.filter(({ changes, fits }) => fits || !changes)
  const changed = stored.filter(({ changes }) => changes)
  if (changed.length > 0) updateContacts(tx, organizationId, destination, members, changed)
  const subscribed = changed.filter(({ isNewlySubscribed }) => isNewlySubscribed).map(({ id }) => id)
  recordChange(tx, organizationId, subscribed, { type: 'subscribed' })
  const joining = stored.filter(({ joins }) => joins).map(({ id }) => id)
  return {
    // After the updates in every request, which keeps the lock order consistent.
    added: joining.length > 0 ? await insertMemberships(tx, organizationId, [destination.groupId!], joining) : 0,
    tooLarge: locked.filter(({ changes, fits }) => changes && !fits).map(({ emailKey }) => emailKey),
    changed: returnsChanged ? changed.map(toChanged) : [],
  }
}

const toChanged = ({ id, fields, isNewlySubscribed, change }: LockedMember): ChangedMember => ({
  id,
  fields: fields!,
  isNewlySubscribed,
  change: change!,
})

/**
 * Locks the contacts that change or join the group, in the order of their addresses, and returns the effect of the
 * update. This is a statement after the insert, so that it sees what other transactions committed while the insert
 * waited for them. The locked rows are read, so that concurrent requests cannot exceed the limits together.
 */
function lockMembers(
  tx: Tx,
  organizationId: OrganizationId,
  { groupId, subscription }: Destination,
  members: Member[],
  { returnsChanged }: { returnsChanged: boolean },
): Promise<LockedMember[]> {
  // Citus cannot route a statement that compares the group with null.
  const membership = groupId
    ? sql`left join group_members on group_members.organization_id = ${organizationId}
        and group_members.group_id = ${groupId} and group_members.contact_id = contacts.id`
    : sql``
  return tx<LockedMember>`
    with ${givenMembers(members)},
    known as materialized (
      select contacts.id, given.email_key, given.first_name, given.last_name, given.attributes::jsonb as attributes,
        ${groupId ? sql`group_members.contact_id is null` : sql`false`} as joins,
        contacts.subscription = 'not_subscribed' and ${subscription} = 'subscribed'
          or coalesce(contacts.first_name, '') <> coalesce(given.first_name, contacts.first_name, '')
          or coalesce(contacts.last_name, '') <> coalesce(given.last_name, contacts.last_name, '')
          or contacts.attributes <> contacts.attributes || coalesce(given.attributes::jsonb, '{}') as changes
      from given
      join contacts on contacts.organization_id = ${organizationId} and contacts.email_key = given.email_key
      ${membership}
      where contacts.id <> given.id
    ),
    locked as materialized (
      select known.id, known.email_key, known.joins, known.changes, known.attributes,
        contacts.first_name as previous_first_name,
        nullif(coalesce(known.first_name, contacts.first_name), '') as next_first_name,
        contacts.last_name as previous_last_name,
        nullif(coalesce(known.last_name, contacts.last_name), '') as next_last_name,
        contacts.attributes as previous_attributes, contacts.subscription as previous_subscription,
        ${nextSubscription(organizationId, subscription)} as next_subscription
      from known
      join contacts on contacts.organization_id = ${organizationId} and contacts.id = known.id
      where known.joins or known.changes
      order by contacts.email_key
      for no key update of contacts
    )
    select id, email_key, joins, changes, ${attributesFit} as fits,
      next_subscription = 'subscribed' and previous_subscription <> 'subscribed' as is_newly_subscribed,
      case when ${returnsChanged}::bool then ${changedFields} end as fields,
      case when ${returnsChanged}::bool then ${changeOf} end as change
    from locked`
}

const nextSubscription = (organizationId: OrganizationId, subscription: Destination['subscription']) => sql`
  case when contacts.subscription = 'not_subscribed' and ${subscription} = 'subscribed'
    then ${subscriptionOnJoining(organizationId)} else contacts.subscription end`

/** Updates contacts that are locked. */
function updateContacts(
  tx: Tx,
  organizationId: OrganizationId,
  { subscription }: Destination,
  members: Member[],
  changed: readonly LockedMember[],
): void {
  const memberOf = new Map(members.map((member) => [member.emailKey, member]))
  const given = changed.map(({ id, emailKey }) => ({ ...memberOf.get(emailKey)!, id }))
  tx.send`
    with ${givenMembers(given)}
    update contacts
    set first_name = nullif(coalesce(given.first_name, contacts.first_name), ''),
      last_name = nullif(coalesce(given.last_name, contacts.last_name), ''),
      attributes = contacts.attributes || coalesce(given.attributes::jsonb, '{}'),
      subscription = ${nextSubscription(organizationId, subscription)},
      updated_at = now()
    from given
    where contacts.organization_id = ${organizationId} and contacts.id = given.id`
}
