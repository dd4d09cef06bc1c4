import type { Tx } from '../db/db.ts'
import { type Sql, sql } from '../db/sql.ts'
import type { ContactId, GroupId, OrganizationId } from '../values/ids.ts'
import { attributeKeysMax, attributesBytesMax } from './fields.ts'
import { recordChange } from './history.sql.ts'
import type { Actor } from './history.ts'
import type { ContactBefore } from './import-changes.sql.ts'
import type { Member } from './member-input.ts'
import { subscriptionOnJoining } from './subscription.ts'

/** Where new and `not_subscribed` contacts go. */
export type Destination = { groupId: GroupId | null; subscription: 'subscribed' | 'not_subscribed' }

/**
 * Locks groups against deletion until the end of the transaction. Returns false if one of them does not exist. The ids must be
 * distinct.
 */
export async function lockGroups(tx: Tx, organizationId: OrganizationId, ids: GroupId[]): Promise<boolean> {
  const rows = await tx`
    select from groups
    where organization_id = ${organizationId} and id = any (${ids}::uuid[])
    order by id
    for key share`
  return rows.length === ids.length
}

/** An empty array stands for a column of nulls, since `unnest` pads it. */
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
  actor: Actor,
): Promise<number> {
  const [row] = await tx<{ created: number }>`
    with ${givenMembers(members)},
    created as (
      insert into contacts (organization_id, id, email, email_key, first_name, last_name, attributes, subscription,
        created_by_type, created_by_id, created_subscribed)
      select ${organizationId}, given.id, coalesce(given.email, given.email_key), given.email_key,
        nullif(first_name, ''), nullif(last_name, ''), coalesce(attributes::jsonb, '{}'),
        case when unsubscription.email_key is null then ${subscription} else 'unsubscribed' end, ${actor.type}, ${actor.id}::uuid,
        unsubscription.email_key is null and ${subscription} = 'subscribed'
      from given
      left join suppressions as unsubscription on unsubscription.organization_id = ${organizationId}
        and unsubscription.email_key = given.email_key and unsubscription.reason = 'unsubscribe'
      order by given.email_key
      on conflict (organization_id, email_key) do nothing
      returning id
    ),
    joined as (
      insert into group_members (organization_id, group_id, contact_id, added_by_type, added_by_id)
      select ${organizationId}, ${groupId}::uuid, id, ${actor.type}, ${actor.id}::uuid from created where ${groupId}::uuid is not null
    )
    select count(*) as created from created`
  return row!.created
}

/**
 * Whether the attributes of a contact stay within their limits after the merge. Evaluated on the locked row, so that
 * concurrent requests cannot exceed the limits together. PostgreSQL writes a space after each colon and comma; those of
 * the first level are not counted.
 */
const attributesFit = sql`(held.attributes is null or contacts.attributes @> held.attributes or (
  select count(*) <= ${attributeKeysMax}
    and octet_length((contacts.attributes || held.attributes)::text) - 2 * count(*) < ${attributesBytesMax}
  from jsonb_object_keys(contacts.attributes || held.attributes)))`

/** What the update changes, as a `ContactBefore`. */
const changeOf = sql`jsonb_build_object(
  'first_name', case when contacts.first_name is distinct from held.previous_first_name
    then jsonb_build_array(held.previous_first_name, contacts.first_name) end,
  'last_name', case when contacts.last_name is distinct from held.previous_last_name
    then jsonb_build_array(held.previous_last_name, contacts.last_name) end,
  'subscription', case when contacts.subscription <> held.previous_subscription
    then jsonb_build_array(held.previous_subscription, contacts.subscription) end,
  'attributes', (
    select jsonb_object_agg(key, case when held.previous_attributes ? key
      then jsonb_build_array(value, held.previous_attributes -> key) else jsonb_build_array(value) end)
    from jsonb_each(held.attributes)
    where held.previous_attributes -> key is distinct from value))`

export type ChangedMember = { id: ContactId; fields: string[]; isNewlySubscribed: boolean; change: ContactBefore }
/** `tooLarge` are address keys. `changed` is empty unless it was requested. */
export type UpdatedMembers = { added: number; tooLarge: string[]; changed: ChangedMember[] }

/**
 * Updates the members that were contacts before `insertMembers`, adds them to the group, and returns how many were not
 * in it, and the keys of those whose attributes would become too large, which are not stored. This is a second
 * statement so that it sees what other transactions committed while the insert waited for them. Only rows that change
 * are locked: repeating a request writes nothing.
 */
export async function updateMembers(
  tx: Tx,
  organizationId: OrganizationId,
  { groupId, subscription }: Destination,
  members: Member[],
  actor: Actor,
  { returnsChanged }: { returnsChanged: boolean },
): Promise<UpdatedMembers> {
  const [row] = await tx<{ [Key in keyof UpdatedMembers]: UpdatedMembers[Key] | null } & { added: number }>`
    with ${givenMembers(members)},
    known as materialized (
      select contacts.id, given.email_key, given.first_name, given.last_name, given.attributes::jsonb as attributes,
        ${groupId}::uuid is not null and group_members.contact_id is null as joins,
        contacts.subscription = 'not_subscribed' and ${subscription} = 'subscribed'
          or coalesce(contacts.first_name, '') <> coalesce(given.first_name, contacts.first_name, '')
          or coalesce(contacts.last_name, '') <> coalesce(given.last_name, contacts.last_name, '')
          or contacts.attributes <> contacts.attributes || coalesce(given.attributes::jsonb, '{}') as changes
      from given
      join contacts on contacts.organization_id = ${organizationId} and contacts.email_key = given.email_key
      left join group_members on group_members.organization_id = ${organizationId}
        and group_members.group_id = ${groupId}::uuid and group_members.contact_id = contacts.id
      where contacts.id <> given.id
    ),
    held as materialized (
      select known.*, contacts.subscription as previous_subscription, contacts.first_name as previous_first_name,
        contacts.last_name as previous_last_name, contacts.attributes as previous_attributes
      from known
      join contacts on contacts.organization_id = ${organizationId} and contacts.id = known.id
      where known.joins or known.changes
      order by contacts.email_key
      for no key update of contacts
    ),
    changed as (
      update contacts
      set first_name = nullif(coalesce(held.first_name, contacts.first_name), ''),
        last_name = nullif(coalesce(held.last_name, contacts.last_name), ''),
        attributes = contacts.attributes || coalesce(held.attributes, '{}'),
        subscription = case when contacts.subscription = 'not_subscribed' and ${subscription} = 'subscribed'
          then ${subscriptionOnJoining} else contacts.subscription end,
        updated_at = now()
      from held
      where contacts.organization_id = ${organizationId} and contacts.id = held.id and held.changes
        and ${attributesFit}
      returning contacts.id, contacts.subscription, held.previous_subscription,
        array_remove(array[
          case when contacts.first_name is distinct from held.previous_first_name then 'first_name' end,
          case when contacts.last_name is distinct from held.previous_last_name then 'last_name' end,
          case when contacts.attributes <> held.previous_attributes then 'attributes' end], null) as fields,
        case when ${returnsChanged}::bool then ${changeOf} end as change
    ),
    recorded as (
      ${recordChange(organizationId, 'subscribed', actor, sql`changed where subscription = 'subscribed' and previous_subscription <> 'subscribed'`)}
    ),
    too_large as (
      select id, email_key from held where changes and id not in (select id from changed)
    ),
    joined as (
      insert into group_members (organization_id, group_id, contact_id, added_by_type, added_by_id)
      select ${organizationId}, ${groupId}::uuid, id, ${actor.type}, ${actor.id}::uuid from held
      -- The count forces the updates to run first in every request, which keeps the lock order consistent.
      where joins and (select count(*) from changed) >= 0 and id not in (select id from too_large)
      order by id
      on conflict do nothing
      returning contact_id
    )
    select (select count(*) from joined) as added, (select array_agg(email_key) from too_large) as too_large,
      case when ${returnsChanged}::bool then (
        select json_agg(json_build_object('id', id, 'fields', fields, 'change', change,
          'isNewlySubscribed', subscription = 'subscribed' and previous_subscription <> 'subscribed'))
        from changed) end as changed`
  return { added: row!.added, tooLarge: row!.tooLarge ?? [], changed: row!.changed ?? [] }
}
