import type { CounterName } from '../../events/events.ts'
import type { Reader } from '../../platform/db/db.ts'
import type { EventName } from '../../platform/values/event-types.ts'
import type { FlowId, OrganizationId } from '../../platform/values/ids.ts'
import { type Counted, selectSums } from './counts.sql.ts'
import { boundsOf, datesOf, type Period, previousStart } from './period.ts'
import { type Count, countersOf, noCount, plus, SpanSums } from './spans.ts'

export type Counts = Record<EventName, Count>
export type PeriodCounts<Name extends CounterName = EventName> = {
  totals: Record<Name, Count>
  /** The totals of the preceding period of the same length. */
  previous: Record<Name, Count>
  series: ({ date: string } & Record<Name, Count>)[]
}

/** Counts what happened to the emails of a flow, or of all flows, within a period and on each of its days. */
export async function countPeriod<Name extends CounterName>(
  db: Reader,
  organizationId: OrganizationId,
  { flowId, period, eventNames }: { flowId: FlowId; period: Period; eventNames: readonly Name[] },
): Promise<PeriodCounts<Name>> {
  const counted = { organizationId, eventNames, flowIds: [flowId] }
  const countOf = await countSpans(db, counted, [previousStart(period), ...boundsOf(period)])
  const spans = new Map(eventNames.map((name) => [name, countOf(name, flowId)]))
  const countsOf = (pick: (spans: Count[]) => Count) =>
    Object.fromEntries(eventNames.map((name) => [name, pick(spans.get(name)!)])) as Record<Name, Count>
  return {
    totals: countsOf((all) => all.slice(1).reduce((sum, count) => plus(sum, count), noCount)),
    previous: countsOf((all) => all[0]!),
    series: datesOf(period).map((date, index) => ({ date, ...countsOf((all) => all[index + 1]!) })),
  }
}

/** Returns the counts between consecutive bounds for each event name and flow. */
export async function countSpans(
  db: Reader,
  counted: Counted,
  bounds: readonly number[],
): Promise<(eventName: CounterName, flowId: FlowId) => Count[]> {
  const sums = new Map<string, SpanSums>()
  for (const row of await selectSums(db, counted, countersOf(bounds), bounds.length === 2)) {
    const key = `${row.eventName} ${row.flowId}`
    const known = sums.get(key) ?? new SpanSums()
    sums.set(key, known)
    known.add(row.part, row.midnight * 1000, { total: row.total, unique: row.unique, machine: row.machine })
  }
  const none = new SpanSums()
  return (eventName, flowId) => (sums.get(`${eventName} ${flowId}`) ?? none).between(bounds)
}
