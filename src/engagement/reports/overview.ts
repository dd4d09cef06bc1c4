import type { CounterName } from '../../events/events.ts'
import type { Reader } from '../../platform/db/db.ts'
import type { FlowId, OrganizationId } from '../../platform/values/ids.ts'
import { type Counts, countPeriod, countSpans } from './counts.ts'
import { countedNames, type Emails, emailsOf, withEmails } from './email-counts.ts'
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
  bounced: number
  unsubscribes: number
}
export type Overview = Period & {
  totals: Counts & Emails
  previous: Counts & Emails
  series: ({ date: string } & Counts & Emails)[]
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
  const { totals, previous, series } = await countPeriod(db, organizationId, {
    flowId,
    period,
    eventNames: countedNames,
  })
  const topFlows = await listTopFlows(db, organizationId, only, [bounds[0]!, bounds.at(-1)!])
  return {
    ...period,
    totals: withEmails(totals),
    previous: withEmails(previous),
    series: series.map(withEmails),
    topFlows,
  }
}

/** The flows that sent the most. */
async function listTopFlows(
  db: Reader,
  organizationId: OrganizationId,
  only: FlowId | undefined,
  bounds: [number, number],
): Promise<TopFlow[]> {
  const top = await selectTopFlows(db, organizationId, only, bounds, topMax)
  const countOf = await countSpans(
    db,
    { organizationId, eventNames: countedNames, flowIds: top.map(({ id }) => id) },
    bounds,
  )
  return top.map(({ id, name, isBuiltIn, sent }) => {
    const count = (eventName: CounterName) => countOf(eventName, id)[0]!
    const emails = emailsOf({
      emailSent: count('emailSent'),
      emailReturned: count('emailReturned'),
      emailRejected: count('emailRejected'),
    })
    return {
      flowId: id,
      name,
      isBuiltIn,
      sent,
      opensUnique: count('emailOpen').unique,
      clicksUnique: count('emailClick').unique,
      bounced: emails.bounced,
      unsubscribes: count('contactUnsubscribe').total,
    }
  })
}
