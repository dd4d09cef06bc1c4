import type { Reader } from '../../platform/db/db.ts'
import { allValues } from '../../platform/db/rows.ts'
import { and, sql } from '../../platform/db/sql.ts'
import type { ContactId, OrganizationId } from '../../platform/values/ids.ts'
import { type ContactFilter, contactConditions } from './contact-filter.ts'

/** Returns the ids of up to `limit` matching contacts with greater ids than `after`, in order. */
export async function selectMatchingIds(
  db: Reader,
  organizationId: OrganizationId,
  filter: ContactFilter,
  after: ContactId | undefined,
  limit: number,
): Promise<ContactId[]> {
  const conditions = [...contactConditions(organizationId, filter), ...(after ? [sql`contacts.id > ${after}`] : [])]
  const rows = await db<{ id: ContactId }>`
    select contacts.id from contacts
    where contacts.organization_id = ${organizationId} and ${and(conditions)}
    order by contacts.id
    limit ${limit}`
  return rows.map(({ id }) => id)
}

/** Returns the attribute names of all matching contacts. */
export const selectAttributeNames = (
  db: Reader,
  organizationId: OrganizationId,
  filter: ContactFilter,
  limit: number,
) =>
  allValues(db<{ name: string }>`
    select distinct jsonb_object_keys(contacts.attributes) as name from contacts
    where contacts.organization_id = ${organizationId} and ${and(contactConditions(organizationId, filter))}
    order by name
    limit ${limit}`)
