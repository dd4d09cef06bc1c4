import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import type { Reader } from '../../platform/db/db.ts'
import { firstContactId, type IdRange } from '../../platform/db/id-range.ts'
import { runSlices } from '../../platform/db/slices.ts'
import { Refusal } from '../../platform/values/errors.ts'
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
  options: ReadAudienceOptions<More>,
): Promise<void> {
  const until = performance.now() + readMsMax
  if (!(await readUntil(read, audience, options, () => performance.now() >= until))) throw tooLong()
}

/** Returns false if it was over before the end of the audience, or if even small slices take too long. */
async function readUntil<More>(
  read: BoundedRead,
  audience: AudienceQuery,
  { more, visit, sizeMax = () => Number.POSITIVE_INFINITY }: ReadAudienceOptions<More>,
  isOver: () => boolean,
): Promise<boolean> {
  const run = async (after: IdRange['after'], size: number) => {
    const slice = await read(audience.organizationId, async (db) => {
      const end = await findSliceEnd(db, audience, after, Math.min(size, sizeMax()))
      const range = sliceAfter(after, end)
      return { end, range, counts: await countAudience(db, audience, range), more: await more(db, range) }
    })
    return (await visit(slice)) ? slice.end : undefined
  }
  return (await runSlices({ from: firstContactId, run, isOver })) === 'complete'
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

/** How long an audience is counted while it is composed. The count of a larger one ends here. */
const composingMsMax = 1_500

/**
 * Counts an audience while it is composed, for a moment and as long as somebody waits for it. Returns what was counted until
 * then, and whether that is the whole audience.
 */
export async function countForMoment(
  read: BoundedRead,
  audience: AudienceQuery,
  disconnected: AbortSignal,
): Promise<AudienceCounts & { isComplete: boolean }> {
  const total = { ...noCounts }
  const until = performance.now() + composingMsMax
  const visit = ({ counts }: AudienceSlice) => {
    addCounts(total, counts)
    return true
  }
  const isOver = () => disconnected.aborted || performance.now() >= until
  const isComplete = await readUntil(read, audience, { more: async () => undefined, visit }, isOver)
  return { ...total, isComplete }
}
