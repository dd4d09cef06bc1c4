import type { Tx } from '../../platform/db/db.ts'
import type { EmailAddress } from '../../platform/values/email.ts'
import type { ContactId, GroupId, OrganizationId } from '../../platform/values/ids.ts'

/**
 * Returns the contacts that exist. They cannot be erased before the end of the transaction, so that the erasure also
 * finds the rows that it writes. They can still be changed.
 */
export async function lockContacts(tx: Tx, organizationId: OrganizationId, ids: readonly ContactId[]) {
  const rows = await tx<{ id: ContactId }>`
    select id from contacts
    where organization_id = ${organizationId} and id = any (${ids}::uuid[])
    order by id
    for key share`
  return new Set(rows.map(({ id }) => id))
}

export type ContactAddress = EmailAddress & { id: ContactId }

/** Locks the contacts in key order until the end of the transaction. Returns those that exist. */
export const lockAddresses = (tx: Tx, organizationId: OrganizationId, ids: ContactId[]) =>
  tx<ContactAddress>`
    select id, email, email_key from contacts
    where organization_id = ${organizationId} and id = any (${ids}::uuid[])
    order by email_key
    for no key update`

/**
 * Locks groups against deletion until the end of the transaction. Returns false if one of them does not exist. The ids
 * must be distinct.
 */
export async function lockGroups(tx: Tx, organizationId: OrganizationId, ids: GroupId[]): Promise<boolean> {
  const rows = await tx`
    select from groups
    where organization_id = ${organizationId} and id = any (${ids}::uuid[])
    order by id
    for key share`
  return rows.length === ids.length
}
