import type { Reader } from '../db/db.ts'
import { and } from '../db/sql.ts'
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

/** The share of contacts in a sample: those with one of the 256 values of the last byte of the id, which is random. */
export const sampleFactor = 256

/** Counts the matching contacts of a sample. Few rows, so that the planner looks up the events of each contact. */
export async function countSample(db: Reader, organizationId: OrganizationId, filter: ContactFilter): Promise<number> {
  const [row] = await db<{ count: number }>`
    select count(*) from contacts
    where contacts.organization_id = ${organizationId}
      and contacts.id = any (array(
        select sample.id from contacts as sample
        where sample.organization_id = ${organizationId} and get_byte(uuid_send(sample.id), 15) = 0))
      and ${and(contactConditions(organizationId, filter))}`
  return row!.count
}
