import { allFlows } from '../../events/events.ts'
import type { Reader } from '../../platform/db/db.ts'
import { notFound } from '../../platform/values/errors.ts'
import type { EventName } from '../../platform/values/event-types.ts'
import type { FlowId, OrganizationId } from '../../platform/values/ids.ts'
import { countSpans } from './counts.ts'
import { flowExists } from './metrics.sql.ts'
import { boundsOf, datesOf, type Period } from './period.ts'
import { type Count, noCount, plus } from './spans.ts'

export type Metric = Period & { eventName: EventName } & Count & { series: ({ date: string } & Count)[] }

/**
 * Counts one kind of event by day. Reads counters, so the cost does not depend on the number of events. Throws
 * `Refusal` if the flow does not exist.
 */
export async function emailEventMetric(
  db: Reader,
  organizationId: OrganizationId,
  { eventName, period, flowId: only }: { eventName: EventName; period: Period; flowId: FlowId | undefined },
): Promise<Metric> {
  const flowId = await existingFlow(db, organizationId, only)
  const bounds = boundsOf(period)
  const counts = (await countSpans(db, { organizationId, eventNames: [eventName], flowIds: [flowId] }, bounds))(
    eventName,
    flowId,
  )
  const dates = datesOf(period)
  return {
    ...period,
    eventName,
    ...counts.reduce((sum, count) => plus(sum, count), noCount),
    series: counts.map((count, index) => ({ date: dates[index]!, ...count })),
  }
}

/** Returns the flow, or all flows if none is given. Throws `Refusal` if it does not exist in this organization. */
export async function existingFlow(db: Reader, organizationId: OrganizationId, id: FlowId | undefined) {
  if (id === undefined) return allFlows
  if (!(await flowExists(db, organizationId, id))) throw notFound('flow')
  return id
}
