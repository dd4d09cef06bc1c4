import { transactionTime } from '../../platform/db/cluster/shards.ts'
import type { Reader, Tx } from '../../platform/db/db.ts'
import { first } from '../../platform/db/rows.ts'
import { and, sql } from '../../platform/db/sql.ts'
import type { PageRequest } from '../../platform/http/paging.ts'
import type { EmailAddress } from '../../platform/values/email.ts'
import type { ContactId, GroupId, OrganizationId } from '../../platform/values/ids.ts'
import type { ContactStatus } from '../segments/filter.ts'
import { type ContactFilter, contactConditions } from './contact-filter.ts'
import { isSuppressed, type Subscription } from './eligibility.ts'
import type { Attributes, ContactFields } from './fields.ts'
import { priorUnsubscription } from './subscription.ts'

export type Contact = {
  id: ContactId
  email: string
  emailKey: string
  firstName: string | null
  lastName: string | null
  attributes: Attributes
  status: ContactStatus
  createdAt: Date
  /** When a person last opened or clicked an email. Null if that never happened, or its events were deleted. */
  lastActiveAt: Date | null
  groups: { id: GroupId; name: string }[]
}

/**
 * The newest open or click by a person, read from the end of the index on contacts. Nothing is stored for it, because
 * that would cost every open and click a write to its contact. Written so that no index on event_name can be used, as in
 * events/recording/bursts.sql.ts.
 */
const lastActiveAt = (organizationId: OrganizationId) => sql`(
  select max(events.occurred_at) from events
  where events.organization_id = ${organizationId} and events.contact_id = contacts.id and not events.machine
    and (events.event_name in ('emailOpen', 'emailClick')) is true)`

/** Every table is compared with the organization itself, so that a distributed database reads from one node. */
const contactColumns = (organizationId: OrganizationId) => sql`
  contacts.id, contacts.email, contacts.email_key, contacts.first_name, contacts.last_name, contacts.attributes,
  contacts.created_at, ${lastActiveAt(organizationId)} as last_active_at,
  case when ${isSuppressed(organizationId)} then 'suppressed' else contacts.subscription end as status,
  coalesce((
    select json_agg(json_build_object('id', groups.id, 'name', groups.name) order by lower(groups.name))
    from group_members
    join groups on groups.organization_id = ${organizationId} and groups.id = group_members.group_id
    where group_members.organization_id = ${organizationId} and group_members.contact_id = contacts.id
  ), '[]') as groups`

export const selectContact = (db: Reader, organizationId: OrganizationId, id: ContactId) =>
  first(db<Contact>`
    select ${contactColumns(organizationId)} from contacts where organization_id = ${organizationId} and id = ${id}`)

export type RecipientFields = Pick<Contact, 'email' | 'firstName' | 'lastName' | 'attributes'>

/** Returns the fields that templates use, or undefined if no contact has this address. */
export const selectRecipient = (db: Reader, organizationId: OrganizationId, emailKey: string) =>
  first(db<RecipientFields>`
    select email, first_name, last_name, attributes from contacts
    where organization_id = ${organizationId} and email_key = ${emailKey}`)

export const contactOrders = ['-created_at', 'created_at', 'email', '-email'] as const
export type ContactOrder = (typeof contactOrders)[number]

/**
 * Ids are ordered by time. The cursor is the id, or the key of the address if that is the order. With `isRare`, all
 * matching contacts are determined before they are sorted. Otherwise the planner may test the contacts one by one in
 * their order, which is fast only if many of them match.
 */
export async function selectContacts(
  db: Reader,
  organizationId: OrganizationId,
  filter: ContactFilter,
  { limit, cursor }: PageRequest,
  { order = '-created_at', isRare = false }: { order?: ContactOrder; isRare?: boolean } = {},
): Promise<Contact[]> {
  // A group filter reads along the group's index, so that a small group in a large organization is found quickly.
  const [source, id] = filter.groupId
    ? [
        sql`group_members
          join contacts on contacts.organization_id = group_members.organization_id
            and contacts.id = group_members.contact_id
          where group_members.organization_id = ${organizationId} and group_members.group_id = ${filter.groupId}`,
        sql`group_members.contact_id`,
      ]
    : [sql`contacts where contacts.organization_id = ${organizationId}`, sql`contacts.id`]
  const { groupId: _, ...rest } = filter
  const [key, outerKey] = isByEmail(order) ? [sql`contacts.email_key`, sql`contacts.email_key`] : [id, sql`contacts.id`]
  const [direction, after] = order.startsWith('-') ? [sql`desc`, sql`<`] : [sql`asc`, sql`>`]
  const conditions = [
    ...contactConditions(organizationId, rest),
    ...(cursor ? [sql`${key} ${after} ${cursor[0]}`] : []),
  ]
  const matching = sql`contacts.* from ${source} and ${and(conditions)}`
  const page = isRare
    ? sql`contacts.* from (select ${matching} offset 0) as contacts order by ${outerKey} ${direction}`
    : sql`${matching} order by ${key} ${direction}`
  return db<Contact>`
    select ${contactColumns(organizationId)}
    from (select ${page} limit ${limit + 1}) as contacts
    order by ${outerKey} ${direction}`
}

export const isByEmail = (order: ContactOrder): boolean => order.endsWith('email')

/** In the order of the ids. Contacts that do not exist are missing. */
export const selectContactsById = (db: Reader, organizationId: OrganizationId, ids: ContactId[]) =>
  db<Contact>`
    select ${contactColumns(organizationId)} from contacts
    where organization_id = ${organizationId} and id = any (${ids}::uuid[])
    order by id`

/**
 * Returns undefined if the address is taken. An address that unsubscribed before its contact was erased is created as
 * unsubscribed.
 */
export async function insertContact(
  tx: Tx,
  organizationId: OrganizationId,
  contact: ContactFields & EmailAddress & { id: ContactId; subscription: 'subscribed' | 'not_subscribed' },
): Promise<ContactId | undefined> {
  const createdAt = await transactionTime(tx)
  const [row] = await tx<{ id: ContactId }>`
    insert into contacts (organization_id, id, email, email_key, first_name, last_name, attributes, subscription,
      created_at, updated_at, created_by_type, created_by_id, created_subscribed)
    select ${organizationId}, ${contact.id}, ${contact.email}, ${contact.emailKey}, nullif(${contact.firstName}, ''),
      nullif(${contact.lastName}, ''), coalesce(${contact.attributes}::jsonb, '{}'),
      coalesce(prior.subscription, ${contact.subscription}), coalesce(${createdAt}::timestamptz, now()),
      coalesce(${createdAt}::timestamptz, now()), ${tx.actor.type}, ${tx.actor.id}::uuid,
      prior.subscription is null and ${contact.subscription} = 'subscribed'
    from (select ${priorUnsubscription(sql`${organizationId}`, sql`${contact.emailKey}`)} as subscription) as prior
    on conflict (organization_id, email_key) do nothing
    returning id`
  return row?.id
}

export type LockedContact = EmailAddress & { subscription: Subscription }

/** Locks the contact until the end of the transaction. Returns undefined if it does not exist. */
export const lockContact = (tx: Tx, organizationId: OrganizationId, id: ContactId) =>
  first(tx<LockedContact>`
    select email, email_key, subscription from contacts
    where organization_id = ${organizationId} and id = ${id}
    for update`)

/**
 * Undefined leaves a field unchanged, and '' clears a name; attributes are replaced. Returns the names of the changed
 * fields. Violates the unique index on addresses if the address is taken.
 */
export async function updateContact(
  tx: Tx,
  organizationId: OrganizationId,
  id: ContactId,
  change: Partial<ContactFields & EmailAddress>,
): Promise<string[]> {
  const [row] = await tx<{ edited: string[] }>`
    with previous as (
      select email, first_name, last_name, attributes from contacts
      where organization_id = ${organizationId} and id = ${id}
    )
    update contacts
    set email = coalesce(${change.email}, contacts.email), email_key = coalesce(${change.emailKey}, contacts.email_key),
      first_name = nullif(coalesce(${change.firstName}, contacts.first_name), ''),
      last_name = nullif(coalesce(${change.lastName}, contacts.last_name), ''),
      attributes = coalesce(${change.attributes}::jsonb, contacts.attributes), updated_at = now()
    from previous
    where organization_id = ${organizationId} and id = ${id}
    returning array_remove(array[
      case when contacts.email <> previous.email then 'email' end,
      case when contacts.first_name is distinct from previous.first_name then 'first_name' end,
      case when contacts.last_name is distinct from previous.last_name then 'last_name' end,
      case when contacts.attributes <> previous.attributes then 'attributes' end], null) as edited`
  return row?.edited ?? []
}
