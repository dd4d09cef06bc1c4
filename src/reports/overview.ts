import type { Reader } from '../db/db.ts'
import { allFlows } from '../events/counters.ts'
import { type EventName, eventNames } from '../values/event-types.ts'
import type { FlowId, OrganizationId } from '../values/ids.ts'
import { countSpans } from './counts.ts'
import { selectTopFlows } from './metrics.sql.ts'
import { existingFlow } from './metrics.ts'
import { boundsOf, datesOf, type Period, previousStart } from './period.ts'
import { type Count, noCount, plus } from './spans.ts'

export type Counts = Record<EventName, Count>
export type TopFlow = {
  flowId: FlowId
  name: string
  sent: number
  opensUnique: number
  clicksUnique: number
  bounces: number
  unsubscribes: number
}
export type Overview = Period & {
  totals: Counts
  /** The totals of the preceding period of the same length. */
  previous: Counts
  series: ({ date: string } & Counts)[]
  topFlows: TopFlow[]
}

const topMax = 10

/** Returns the data of the dashboard for all event types. Throws `Refusal` if the flow does not exist. */
export async function getOverview(
  db: Reader,
  organizationId: OrganizationId,
  { period, flowId: only }: { period: Period; flowId: FlowId | undefined },
): Promise<Overview> {
  const flowId = await existingFlow(db, organizationId, only)
  const bounds = boundsOf(period)
  const counted = { organizationId, eventNames, flowIds: [flowId] }
  const [countOf, topFlows] = await Promise.all([
    countSpans(db, counted, [previousStart(period), ...bounds]),
    listTopFlows(db, organizationId, flowId, [bounds[0]!, bounds.at(-1)!]),
  ])

  const spans = new Map(eventNames.map((name) => [name, countOf(name, flowId)]))
  const countsOf = (pick: (spans: Count[]) => Count) =>
    Object.fromEntries(eventNames.map((name) => [name, pick(spans.get(name)!)])) as Counts
  return {
    ...period,
    totals: countsOf((all) => all.slice(1).reduce((sum, count) => plus(sum, count), noCount)),
    previous: countsOf((all) => all[0]!),
    series: datesOf(period).map((date, index) => ({ date, ...countsOf((all) => all[index + 1]!) })),
    topFlows,
  }
}

/** The flows that sent the most. */
async function listTopFlows(
  db: Reader,
  organizationId: OrganizationId,
  only: FlowId,
  bounds: [number, number],
): Promise<TopFlow[]> {
  const one = only === allFlows ? undefined : only
  const top = await selectTopFlows(db, organizationId, one, bounds, topMax)
  const countOf = await countSpans(db, { organizationId, eventNames, flowIds: top.map(({ id }) => id) }, bounds)
  return top.map(({ id, name, sent }) => {
    const count = (eventName: EventName) => countOf(eventName, id)[0]!
    return {
      flowId: id,
      name,
      sent,
      opensUnique: count('emailOpen').unique,
      clicksUnique: count('emailClick').unique,
      bounces: count('emailHardBounce').total + count('emailSoftBounce').total,
      unsubscribes: count('contactUnsubscribe').total,
    }
  })
}
