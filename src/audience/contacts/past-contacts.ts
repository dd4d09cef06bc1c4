import type { Tx } from '../../platform/db/db.ts'
import type { ContactId, GroupId, OrganizationId } from '../../platform/values/ids.ts'
import type { Actor } from './history.ts'

/** A subscribed contact that was added in the past, for sample data. */
export type PastContact = {
  id: ContactId
  /** In lower case. */
  email: string
  firstName: string
  lastName: string
  attributes: object
  createdAt: Date
  actor: Actor
  groupIds: GroupId[]
}

/** Dates all groups of an organization back. */
export const datePastGroups = (tx: Tx, organizationId: OrganizationId, at: Date) =>
  tx`update groups set created_at = ${at}, updated_at = ${at} where organization_id = ${organizationId}`

export async function insertPastContacts(tx: Tx, organizationId: OrganizationId, contacts: readonly PastContact[]) {
  await tx`
    insert into contacts (organization_id, id, email, email_key, first_name, last_name, attributes, subscription,
      created_at, updated_at, created_by_type, created_by_id, created_subscribed)
    select ${organizationId}, id, email, email, first_name, last_name, attributes::jsonb, 'subscribed', created_at,
      created_at, actor_type, actor_id, true
    from unnest(
      ${contacts.map(({ id }) => id)}::uuid[], ${contacts.map(({ email }) => email)}::text[],
      ${contacts.map(({ firstName }) => firstName)}::text[], ${contacts.map(({ lastName }) => lastName)}::text[],
      ${contacts.map(({ attributes }) => JSON.stringify(attributes))}::text[],
      ${contacts.map(({ createdAt }) => createdAt)}::timestamptz[], ${contacts.map(({ actor }) => actor.type)}::text[],
      ${contacts.map(({ actor }) => actor.id)}::uuid[]
    ) as past (id, email, first_name, last_name, attributes, created_at, actor_type, actor_id)`
  const members = contacts.flatMap((contact) => contact.groupIds.map((groupId) => ({ ...contact, groupId })))
  await tx`
    insert into group_members (organization_id, group_id, contact_id, added_at, added_by_type, added_by_id)
    select ${organizationId}, group_id, contact_id, added_at, actor_type, actor_id
    from unnest(
      ${members.map(({ groupId }) => groupId)}::uuid[], ${members.map(({ id }) => id)}::uuid[],
      ${members.map(({ createdAt }) => createdAt)}::timestamptz[], ${members.map(({ actor }) => actor.type)}::text[],
      ${members.map(({ actor }) => actor.id)}::uuid[]
    ) as past (group_id, contact_id, added_at, actor_type, actor_id)`
}
