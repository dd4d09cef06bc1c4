import type { Reader } from '../db/db.ts'
import { and, sql } from '../db/sql.ts'
import { isSampled } from '../segments/matches.ts'
import type { OrganizationId } from '../values/ids.ts'
import { type ContactFilter, contactConditions } from './contact-filter.sql.ts'

export async function countContacts(
  db: Reader,
  organizationId: OrganizationId,
  filter: ContactFilter,
): Promise<number> {
  const [row] = await db<{ count: number }>`
    select count(*) from contacts
    where contacts.organization_id = ${organizationId} and ${and(contactConditions(organizationId, filter))}`
  return row!.count
}

/** Counts the matching contacts of the sample. */
export async function countSample(db: Reader, organizationId: OrganizationId, filter: ContactFilter): Promise<number> {
  const [row] = await db<{ count: number }>`
    select count(*) from contacts
    where contacts.organization_id = ${organizationId} and ${isSampled(sql`contacts.id`)}
      and ${and(contactConditions(organizationId, filter, { sampled: true }))}`
  return row!.count
}
