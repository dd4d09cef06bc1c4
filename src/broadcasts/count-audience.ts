import type { BoundedRead } from '../db/bounded-read.ts'
import type { Reader } from '../db/db.ts'
import { runSlices, TooExpensive } from '../db/slices.ts'
import { firstContactId, type IdRange } from '../segments/id-range.ts'
import { Refusal } from '../values/errors.ts'
import { type AudienceCounts, type AudienceQuery, countAudience, findSliceEnd, sliceAfter } from './audience.sql.ts'

const readMsMax = 30_000

type AudienceSlice = { range: IdRange; counts: AudienceCounts }

export type ReadAudienceOptions<More> = {
  /** Reads what else is needed of a slice, on the same connection. */
  more: (db: Reader, range: IdRange) => Promise<More>
  /** Called for each slice. Returns false if no further slice is needed. */
  visit: (slice: AudienceSlice & { more: More }) => Promise<boolean> | boolean
  /** The contacts in a slice at most. */
  sizeMax?: () => number
}

/**
 * Reads an audience in slices, each of which is a bounded read. No connection is held between them. Throws `Refusal` if it takes
 * too long.
 */
export async function readAudience<More>(
  read: BoundedRead,
  audience: AudienceQuery,
  { more, visit, sizeMax = () => Number.POSITIVE_INFINITY }: ReadAudienceOptions<More>,
): Promise<void> {
  const run = async (after: IdRange['after'], size: number) => {
    const slice = await read(audience.organizationId, async (db) => {
      const end = await findSliceEnd(db, audience, after, Math.min(size, sizeMax()))
      const range = sliceAfter(after, end)
      return { end, range, counts: await countAudience(db, audience, range), more: await more(db, range) }
    })
    return (await visit(slice)) ? slice.end : undefined
  }
  const until = performance.now() + readMsMax
  const isOver = () => performance.now() >= until
  const rest = await runSlices({ from: firstContactId, run, isOver }).catch((error) => {
    if (error instanceof TooExpensive) throw tooLong()
    throw error
  })
  if (rest !== undefined) throw tooLong()
}

const tooLong = () =>
  new Refusal(
    'unavailable',
    'The audience could not be counted in time. Use fewer conditions, or start the broadcast without an expected number of recipients.',
    { retryAfterSeconds: 5 },
  )

export const noCounts: AudienceCounts = { audience: 0, suppressed: 0, unsubscribed: 0, notSubscribed: 0, recipients: 0 }

export function addCounts(total: AudienceCounts, counts: AudienceCounts): void {
  for (const name of Object.keys(noCounts) as (keyof AudienceCounts)[]) total[name] += counts[name]
}

/** Counts an audience. With `isEnough`, counting ends as soon as it returns true. */
export async function countWholeAudience(
  read: BoundedRead,
  audience: AudienceQuery,
  isEnough: (counts: AudienceCounts) => boolean = () => false,
): Promise<AudienceCounts> {
  const total = { ...noCounts }
  await readAudience(read, audience, {
    more: async () => undefined,
    visit: ({ counts }) => {
      addCounts(total, counts)
      return !isEnough(total)
    },
  })
  return total
}
