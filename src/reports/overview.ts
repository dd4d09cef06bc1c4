import type { Reader } from '../db/db.ts'
import { type EventName, eventNames } from '../values/event-types.ts'
import type { FlowId, OrganizationId } from '../values/ids.ts'
import { countPeriod, countSpans, type PeriodCounts } from './counts.ts'
import { selectTopFlows } from './metrics.sql.ts'
import { existingFlow } from './metrics.ts'
import { boundsOf, type Period } from './period.ts'

export type TopFlow = {
  flowId: FlowId
  name: string
  isBuiltIn: boolean
  sent: number
  opensUnique: number
  clicksUnique: number
  bounces: number
  unsubscribes: number
}
export type Overview = Period & PeriodCounts & { topFlows: TopFlow[] }

const topMax = 10

/** Returns the data of the dashboard for all event types. Throws `Refusal` if the flow does not exist. */
export async function getOverview(
  db: Reader,
  organizationId: OrganizationId,
  { period, flowId: only }: { period: Period; flowId: FlowId | undefined },
): Promise<Overview> {
  const flowId = await existingFlow(db, organizationId, only)
  const bounds = boundsOf(period)
  const counts = await countPeriod(db, organizationId, { flowId, period, eventNames })
  const topFlows = await listTopFlows(db, organizationId, only, [bounds[0]!, bounds.at(-1)!])
  return { ...period, ...counts, topFlows }
}

/** The flows that sent the most. */
async function listTopFlows(
  db: Reader,
  organizationId: OrganizationId,
  only: FlowId | undefined,
  bounds: [number, number],
): Promise<TopFlow[]> {
  const top = await selectTopFlows(db, organizationId, only, bounds, topMax)
  const countOf = await countSpans(db, { organizationId, eventNames, flowIds: top.map(({ id }) => id) }, bounds)
  return top.map(({ id, name, isBuiltIn, sent }) => {
    const count = (eventName: EventName) => countOf(eventName, id)[0]!
    return {
      flowId: id,
      name,
      isBuiltIn,
      sent,
      opensUnique: count('emailOpen').unique,
      clicksUnique: count('emailClick').unique,
      bounces: count('emailHardBounce').total + count('emailSoftBounce').total,
      unsubscribes: count('contactUnsubscribe').total,
    }
  })
}
