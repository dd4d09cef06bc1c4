import { type CounterName, type DimensionKind, otherValue } from '../../events/events.ts'
import type { Reader } from '../../platform/db/db.ts'
import type { FlowId, OrganizationId } from '../../platform/values/ids.ts'
import { type Counts, countPeriod } from './counts.ts'
import { countedNames, type Emails, emailsOf, withEmails } from './email-counts.ts'
import { type FlowSum, selectFlowSums, selectVersionNumbers } from './flow-results.sql.ts'
import { boundsOf, type Period } from './period.ts'
import { type Count, noCount, plus } from './spans.ts'

type AllCounts = Record<CounterName, Count>

/** A value and its counts. Null is the sum of the values that are not counted individually. */
export type Counted = { value: string | null; counts: AllCounts }

export type FlowResults = Period & {
  totals: Counts & Emails
  previous: Counts & Emails
  series: ({ date: string } & Counts & Emails)[]
  links: Counted[]
  domains: Counted[]
  reasons: Counted[]
  versions: (Counted & { number: number | null })[]
}

const rowsMax = 100

/**
 * Returns how a flow performed within a period. Reads counters, so the cost does not depend on the number of events.
 */
export async function getFlowResults(
  db: Reader,
  organizationId: OrganizationId,
  { flowId, period }: { flowId: FlowId; period: Period },
): Promise<FlowResults> {
  const bounds = boundsOf(period)
  const { totals, previous, series } = await countPeriod(db, organizationId, {
    flowId,
    period,
    eventNames: countedNames,
  })
  const sums = await selectFlowSums(db, organizationId, flowId, [bounds[0]!, bounds.at(-1)!])
  const versions = byValue(sums, 'version', sent)
  const numbers = await selectVersionNumbers(
    db,
    organizationId,
    versions.flatMap(({ value }) => value ?? []),
  )
  return {
    ...period,
    totals: withEmails(totals),
    previous: withEmails(previous),
    series: series.map(withEmails),
    links: byValue(sums, 'link', (counts) => counts.emailClick.total),
    domains: byValue(sums, 'domain', (counts) => sent(counts)),
    reasons: byValue(sums, 'reason', bounces),
    versions: versions
      .map((version) => ({ ...version, number: (version.value && numbers.get(version.value)) || null }))
      .toSorted((a, b) => (b.number ?? 0) - (a.number ?? 0)),
  }
}

const sent = (counts: AllCounts) => emailsOf(counts).sent
const bounces = (counts: AllCounts) => counts.emailHardBounce.total + counts.emailSoftBounce.total

const noCounts = Object.fromEntries(countedNames.map((name) => [name, noCount])) as AllCounts

/** The values with the highest counts, and the sum of all others last. */
function byValue(sums: readonly FlowSum[], kind: DimensionKind, sizeOf: (counts: AllCounts) => number): Counted[] {
  const byName = new Map<string, AllCounts>()
  for (const { value, eventName, total, unique, machine } of sums.filter((sum) => sum.kind === kind)) {
    const counts = byName.get(value) ?? { ...noCounts }
    counts[eventName] = { total, unique, machine }
    byName.set(value, counts)
  }
  const other = byName.get(otherValue) ?? noCounts
  byName.delete(otherValue)
  const sorted = [...byName].filter(([, counts]) => !isZero(counts)).sort(([, a], [, b]) => sizeOf(b) - sizeOf(a))
  const rest = sorted.slice(rowsMax).reduce((sum, [, counts]) => add(sum, counts), other)
  return [
    ...sorted.slice(0, rowsMax).map(([value, counts]) => ({ value, counts })),
    ...(isZero(rest) ? [] : [{ value: null, counts: rest }]),
  ]
}

const isZero = (counts: AllCounts) =>
  countedNames.every((name) => counts[name].total === 0 && counts[name].unique === 0)
const add = (a: AllCounts, b: AllCounts) =>
  Object.fromEntries(countedNames.map((name) => [name, plus(a[name], b[name])])) as AllCounts
