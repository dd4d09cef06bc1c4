import type { Tx } from '../db/db.ts'
import type { ContactId, OrganizationId } from '../values/ids.ts'

/**
 * Returns those of the contacts that exist. They cannot be erased before the end of the transaction, so that erasing them also
 * finds what it writes. They can be changed meanwhile.
 */
export async function lockContacts(
  tx: Tx,
  organizationId: OrganizationId,
  ids: readonly ContactId[],
): Promise<Set<ContactId>> {
  const rows = await tx<{ id: ContactId }>`
    select id from contacts
    where organization_id = ${organizationId} and id = any (${ids}::uuid[])
    order by id
    for key share`
  return new Set(rows.map(({ id }) => id))
}
