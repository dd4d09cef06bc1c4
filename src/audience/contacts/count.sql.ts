import type { Reader } from '../../platform/db/db.ts'
import { onlyValue } from '../../platform/db/rows.ts'
import { and, sql } from '../../platform/db/sql.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import { isSampled } from '../segments/matches.ts'
import { type ContactFilter, contactConditions } from './contact-filter.ts'

export const countContacts = (db: Reader, organizationId: OrganizationId, filter: ContactFilter) =>
  onlyValue(db<{ count: number }>`
    select count(*) from contacts
    where contacts.organization_id = ${organizationId} and ${and(contactConditions(organizationId, filter))}`)

/** Counts the contacts of the sample, and the matching ones among them. */
export async function countSample(db: Reader, organizationId: OrganizationId, filter: ContactFilter) {
  const sampled = sql`contacts.organization_id = ${organizationId} and ${isSampled(sql`contacts.id`)}`
  const [row] = await db<{ size: number; matching: number }>`
    select
      (select count(*) from contacts where ${sampled}) as size,
      (select count(*) from contacts
        where ${sampled} and ${and(contactConditions(organizationId, filter, { among: isSampled }))}) as matching`
  return row!
}
