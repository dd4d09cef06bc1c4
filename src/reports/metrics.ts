import type { Reader } from '../db/db.ts'
import { allFlows } from '../events/all-flows.ts'
import { type FieldProblem, notFound } from '../values/errors.ts'
import type { EventName } from '../values/event-types.ts'
import { parseIdParam } from '../values/id-params.ts'
import type { FlowId, OrganizationId } from '../values/ids.ts'
import { countSpans } from './counts.ts'
import { flowExists } from './metrics.sql.ts'
import { boundsOf, datesOf, type Period, type PeriodInput, readEventName, readPeriod } from './period.ts'
import { type Count, noCount, plus } from './spans.ts'

export type Metric = Period & { eventName: EventName } & Count & { series: ({ date: string } & Count)[] }

/**
 * Counts one kind of event by day. Reads counters, so the cost does not depend on the number of events. Throws
 * `Refusal` if the parameters are invalid or the flow does not exist.
 */
export async function emailEventMetric(
  db: Reader,
  organizationId: OrganizationId,
  given: PeriodInput & { flow_id?: unknown },
): Promise<Metric> {
  const problems: FieldProblem[] = []
  const eventName = readEventName(given.event_name, problems)
  const period = readPeriod(given, 'UTC', problems)
  const flowId = await readFlow(db, organizationId, given.flow_id)

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
export async function readFlow(db: Reader, organizationId: OrganizationId, given: unknown): Promise<FlowId> {
  if (given === undefined) return allFlows
  const id = parseIdParam('flw', String(given))
  if (!(await flowExists(db, organizationId, id))) throw notFound('flow')
  return id
}
