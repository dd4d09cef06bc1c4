import type { BoundedRead } from '../db/bounded-read.ts'
import { isQueryCanceled } from '../db/db.ts'
import type { OrganizationId } from '../values/ids.ts'
import type { ContactFilter } from './contact-filter.sql.ts'
import { countContacts, countSample, sampleFactor } from './count.sql.ts'

export type ContactCount = { count: number; approximate: boolean }

/** An estimate is rounded to this many digits. */
const estimateDigits = 2

/**
 * Counts the contacts that match a filter. If this takes longer than the time limit of `read`, the count is estimated
 * from a sample. Throws `Refusal` if that takes too long as well.
 */
export async function countMatching(
  read: BoundedRead,
  organizationId: OrganizationId,
  filter: ContactFilter,
): Promise<ContactCount> {
  const exact = await read(organizationId, (db) =>
    countContacts(db, organizationId, filter).catch((error: unknown) => {
      if (isQueryCanceled(error)) return undefined
      throw error
    }),
  )
  if (exact !== undefined) return { count: exact, approximate: false }
  const sampled = await read(organizationId, (db) => countSample(db, organizationId, filter))
  return { count: Number((sampled * sampleFactor).toPrecision(estimateDigits)), approximate: true }
}
