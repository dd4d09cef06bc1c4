import { type CounterName, type DimensionKind, otherValue } from '../../events/events.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import type { Reader } from '../../platform/db/db.ts'
import { Refusal } from '../../platform/values/errors.ts'
import type { FlowId, OrganizationId } from '../../platform/values/ids.ts'
import { type Counts, countPeriod } from './counts.ts'
import { countedNames, type Emails, emailsOf, withEmails } from './email-counts.ts'
import { type FlowSum, selectFlowSums, selectLinkMessages, selectVersionNumbers } from './flow-results.sql.ts'
import { boundsOf, type Period } from './period.ts'
import { type Count, noCount, plus } from './spans.ts'

type AllCounts = Record<CounterName, Count>

/** A value and its counts. Null is the sum of the values that are not counted individually. */
export type Counted = { value: string | null; counts: AllCounts }

export type FlowResults = Period & {
  totals: Counts & Emails
  previous: Counts & Emails
  series: ({ date: string } & Counts & Emails)[]
  /** The messages in which people clicked a link are counted here, and not in `counts`. Null if there are too many. */
  links: (Counted & { messages: number | null })[]
  domains: Counted[]
  reasons: Counted[]
  versions: (Counted & { number: number | null })[]
}

const rowsMax = 100

/** Reading this many clicks takes about half a second. */
const clicksMax = 200_000

type Asked = { flowId: FlowId; period: Period }

/**
 * Returns how a flow performed within a period. Reads counters, so the cost does not depend on the number of events, except
 * for the messages in which each link was clicked.
 */
export async function getFlowResults(
  read: BoundedRead,
  organizationId: OrganizationId,
  asked: Asked,
): Promise<FlowResults> {
  const { links, ...results } = await read(organizationId, (db) => countFlow(db, organizationId, asked))
  return { ...results, links: await withMessages(read, organizationId, asked, links) }
}

type CountedResults = Omit<FlowResults, 'links'> & { links: Counted[] }

async function countFlow(
  db: Reader,
  organizationId: OrganizationId,
  { flowId, period }: Asked,
): Promise<CountedResults> {
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

/** Counts the messages in which people clicked each link, unless that would take too long. */
async function withMessages(
  read: BoundedRead,
  organizationId: OrganizationId,
  { flowId, period }: Asked,
  links: readonly Counted[],
): Promise<FlowResults['links']> {
  const human = ({ counts: { emailClick } }: Counted) => emailClick.total - emailClick.machine
  const bounds = boundsOf(period)
  const clicks = links.reduce((sum, link) => sum + human(link), 0)
  const found =
    clicks > clicksMax
      ? undefined
      : await read(organizationId, (db) =>
          selectLinkMessages(db, organizationId, flowId, [bounds[0]!, bounds.at(-1)!]),
        ).catch((error) => {
          if (error instanceof Refusal && error.type === 'unavailable') return undefined
          throw error
        })
  if (!found) return links.map((link) => ({ ...link, messages: null }))
  const messagesOf = new Map(found.map(({ link, messages }) => [link, messages]))
  const listed = new Set(links.map(({ value }) => value))
  const others = found.reduce((sum, { link, messages }) => (listed.has(link) ? sum : sum + messages), 0)
  // On a day with many links, some clicks on a link are counted with the others.
  return links.map((link) => ({
    ...link,
    messages: Math.min(human(link), link.value === null ? others : (messagesOf.get(link.value) ?? 0)),
  }))
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
