import { type BoundedRead, undefinedIfTooSlow } from '../../platform/db/bounded-read.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import { sampleFactor } from '../segments/matches.ts'
import type { ContactFilter } from './contact-filter.ts'
import { countContacts, countSample } from './count.sql.ts'

export type ContactCount = { count: number; approximate: boolean }
/** Both have a time limit for each statement: `fastRead` a fraction of a second, `slowRead` seconds. */
export type CountReads = { fastRead: BoundedRead; slowRead: BoundedRead }

/** An estimate is rounded to this many digits. */
const estimateDigits = 2
/** Below this, an exact count takes a few hundred milliseconds at most. */
const estimatedContactsMin = 50_000
/** With fewer matches in the sample, the standard error of the estimate would be above 10%. */
const matchingMin = 100

/**
 * Counts the contacts that match a filter. Unless `exact` is requested, a count that exceeds the short limit is estimated
 * from a sample, if there are many contacts and enough of them match. Every count that exceeds the long limit is
 * estimated. Throws `Refusal` if the estimate takes too long as well.
 */
export async function countMatching(
  { fastRead, slowRead }: CountReads,
  organizationId: OrganizationId,
  filter: ContactFilter,
  { exact = false }: { exact?: boolean } = {},
): Promise<ContactCount> {
  const countWithin = async (read: BoundedRead): Promise<ContactCount | undefined> => {
    const count = await read(organizationId, (db) => countContacts(db, organizationId, filter)).catch(
      undefinedIfTooSlow,
    )
    return count === undefined ? undefined : { count, approximate: false }
  }
  const estimate = async (): Promise<ContactCount & { isGood: boolean }> => {
    const { size, matching } = await slowRead(organizationId, (db) => countSample(db, organizationId, filter))
    const count = Number((matching * sampleFactor).toPrecision(estimateDigits))
    return { count, approximate: true, isGood: size * sampleFactor >= estimatedContactsMin && matching >= matchingMin }
  }
  if (exact) return (await countWithin(slowRead)) ?? (await estimate())
  const counted = await countWithin(fastRead)
  if (counted) return counted
  const { isGood, ...estimated } = await estimate()
  return isGood ? estimated : ((await countWithin(slowRead)) ?? estimated)
}
