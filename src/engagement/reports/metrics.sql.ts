import { allFlows } from '../../events/events.ts'
import type { Reader } from '../../platform/db/db.ts'
import { sql } from '../../platform/db/sql.ts'
import type { EventName } from '../../platform/values/event-types.ts'
import type { FlowId, OrganizationId } from '../../platform/values/ids.ts'
import { stretchesOf } from './spans.ts'

export async function flowExists(db: Reader, organizationId: OrganizationId, id: FlowId): Promise<boolean> {
  return (await db`select from flows where organization_id = ${organizationId} and id = ${id}`).length > 0
}

export type FlowSent = { id: FlowId; name: string; isBuiltIn: boolean; sent: number }

/**
 * Returns the flows that sent the most within a period; of all flows, or only the given one. Each flow is looked up by
 * the key of the counters, which every plan uses: 20,000 flows, of which 2,000 sent on each of 30 days, take 0.2 s.
 */
export async function selectTopFlows(
  db: Reader,
  organizationId: OrganizationId,
  only: FlowId | undefined,
  [from, until]: readonly [number, number],
  limit: number,
): Promise<FlowSent[]> {
  const stretches = stretchesOf(from, until)
  const sentByFlow = sql`organization_id = ${organizationId} and event_name = any ('{emailSent,emailRejected}')
    and flow_id = flows.id`
  return db<FlowSent>`
    select flows.id, flows.name, flows.is_built_in, counted.sent
    from flows
    -- Most flows of a long list sent nothing, which a single day counter shows.
    cross join lateral (
      select from event_counters
      where ${sentByFlow} and grain = 'day'
        and starts_at > ${new Date(from)}::timestamptz - interval '1 day' and starts_at < ${new Date(until)}
      limit 1
    ) as any_day
    cross join lateral (
      select sum(sign * part.emails)::int8 as sent
      from unnest(
        ${stretches.map(({ grain }) => grain)}::text[],
        ${stretches.map((stretch) => stretch.from / 1000)}::int8[],
        ${stretches.map((stretch) => stretch.until / 1000)}::int8[],
        ${stretches.map(({ sign }) => sign)}::int8[]
      ) as stretch (grain, from_second, until_second, sign)
      cross join lateral (
        select sum(uniques) as emails from event_counters
        where ${sentByFlow} and grain = stretch.grain collate "C"
          and starts_at >= to_timestamp(from_second) and starts_at < to_timestamp(until_second)
      ) as part
    ) as counted
    where flows.organization_id = ${organizationId} and (${only ?? null}::uuid is null or flows.id = ${only ?? null})
      and counted.sent > 0
    order by counted.sent desc, flows.id desc
    limit ${limit}`
}

export type Checklist = {
  sent: boolean
  opened: boolean
  clicked: boolean
  flow: boolean
  contacts: boolean
  apiKey: boolean
  webhook: boolean
}

/** The flow that the first step of the checklist creates. */
const welcomeFlow = 'Welcome'

/** Which first steps an organization has completed. A contact created by a send alone is not subscribed. */
export async function findChecklist(db: Reader, organizationId: OrganizationId): Promise<Checklist> {
  const happened = (eventName: EventName) => sql`
    exists (
      select from event_counters
      where organization_id = ${organizationId} and event_name = ${eventName} and flow_id = ${allFlows} and grain = 'day')`
  const [row] = await db<Checklist>`
    select ${happened('emailSent')} as sent, ${happened('emailOpen')} as opened, ${happened('emailClick')} as clicked,
      exists (
        select from flows
        where organization_id = ${organizationId} and name <> ${welcomeFlow} and not is_built_in) as flow,
      exists (
        select from contacts where organization_id = ${organizationId} and subscription <> 'not_subscribed') as contacts,
      exists (select from api_keys where organization_id = ${organizationId} and revoked_at is null) as api_key,
      exists (select from webhooks where organization_id = ${organizationId}) as webhook`
  return row!
}
