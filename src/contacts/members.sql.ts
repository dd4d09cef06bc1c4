import type { Tx } from '../db/db.ts'
import { type Sql, sql } from '../db/sql.ts'
import type { GroupId, OrganizationId } from '../values/ids.ts'
import { attributeKeysMax, attributesBytesMax } from './fields.ts'
import { recordChange } from './history.sql.ts'
import type { Actor } from './history.ts'
import type { Member } from './member-input.ts'
import { subscriptionOnJoining } from './subscription.ts'

/** What becomes of people who are new, or were only ever sent to. */
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

/** A column that nobody gave costs nothing: `unnest` fills up with nulls. */
const column = (values: (string | null)[]) => (values.every((value) => value === null) ? [] : values)

/** `given (id, email_key, email, first_name, last_name, attributes)`; email is null where it is its own key. */
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
 * Stores those that are not known yet, as members of the group if one is named, and answers how many they were. Whoever
 * objected before and was erased since comes back as unsubscribed. Inserting in the order of the key keeps concurrent
 * requests from waiting for each other in a circle.
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
        created_by_type, created_by_id)
      select ${organizationId}, given.id, coalesce(given.email, given.email_key), given.email_key,
        nullif(first_name, ''), nullif(last_name, ''), coalesce(attributes::jsonb, '{}'),
        case when objection.email_key is null then ${subscription} else 'unsubscribed' end, ${actor.type}, ${actor.id}::uuid
      from given
      left join suppressions as objection on objection.organization_id = ${organizationId}
        and objection.email_key = given.email_key and objection.reason = 'unsubscribe'
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
 * That the attributes of a contact stay within their limits with those in `held`. On the row as it is when it is locked, so
 * requests at the same time cannot exceed them together. PostgreSQL writes a space behind each colon and comma; those of the
 * first level are not counted.
 */
const attributesFit = sql`(held.attributes is null or contacts.attributes @> held.attributes or (
  select count(*) <= ${attributeKeysMax}
    and octet_length((contacts.attributes || held.attributes)::text) - 2 * count(*) < ${attributesBytesMax}
  from jsonb_object_keys(contacts.attributes || held.attributes)))`

/**
 * Updates those that were known before `insertMembers` with what was given, adds them to the group and answers how many
 * were not in it, and the keys of those whose attributes would become too large, of whom nothing is stored. A statement of its own, so that it sees what others committed while the insert waited for them. Only
 * rows that change are locked: repeating a request writes nothing.
 */
export async function updateMembers(
  tx: Tx,
  organizationId: OrganizationId,
  { groupId, subscription }: Destination,
  members: Member[],
  actor: Actor,
): Promise<{ added: number; tooLarge: string[] }> {
  const [row] = await tx<{ added: number; tooLarge: string[] | null }>`
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
      select known.*, contacts.subscription as previous_subscription
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
      returning contacts.id, contacts.subscription, held.previous_subscription
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
      -- Counting makes the updates come first in every request, for the sake of the order of locks.
      where joins and (select count(*) from changed) >= 0 and id not in (select id from too_large)
      order by id
      on conflict do nothing
      returning contact_id
    )
    select (select count(*) from joined) as added, (select array_agg(email_key) from too_large) as too_large`
  return { added: row!.added, tooLarge: row!.tooLarge ?? [] }
}
