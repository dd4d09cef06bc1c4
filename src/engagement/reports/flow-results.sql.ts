import type { CounterName, DimensionKind } from '../../events/events.ts'
import type { Reader } from '../../platform/db/db.ts'
import { sql } from '../../platform/db/sql.ts'
import { type FlowId, leastId, type OrganizationId } from '../../platform/values/ids.ts'
import { type ActivityRow, findByCounters, type Position } from './activity.sql.ts'
import { type Count, stretchesOf } from './spans.ts'

export type FlowSum = Count & { kind: DimensionKind; value: string; eventName: CounterName }

/** Sums the counters of a flow within a period. */
export async function selectFlowSums(
  db: Reader,
  organizationId: OrganizationId,
  flowId: FlowId,
  [from, until]: readonly [number, number],
): Promise<FlowSum[]> {
  const stretches = stretchesOf(from, until)
  return db<FlowSum>`
    select kind, value, event_name, sum(sign * part.total)::int8 as total, sum(sign * part.uniques)::int8 as unique,
      sum(sign * part.machine)::int8 as machine
    from unnest(
      ${stretches.map(({ grain }) => grain)}::text[],
      ${stretches.map((stretch) => stretch.from / 1000)}::int8[],
      ${stretches.map((stretch) => stretch.until / 1000)}::int8[],
      ${stretches.map(({ sign }) => sign)}::int8[]
    ) as stretch (grain, from_second, until_second, sign)
    cross join lateral (
      select kind, value, event_name, sum(total) as total, sum(uniques) as uniques, sum(machine) as machine
      from flow_counters
      where organization_id = ${organizationId} and flow_id = ${flowId} and grain = stretch.grain collate "C"
        and kind = any ('{domain,link,reason,version}')
        and starts_at >= to_timestamp(from_second) and starts_at < to_timestamp(until_second)
      group by 1, 2, 3
    ) as part
    group by 1, 2, 3`
}

/**
 * Counts the messages in which people clicked each link within a period. The counters show when the flow was clicked, and
 * only these stretches of time are read.
 */
export const selectLinkMessages = (
  db: Reader,
  organizationId: OrganizationId,
  flowId: FlowId,
  [from, until]: readonly [number, number],
) =>
  db<{ link: string; messages: number }>`
    select link, count(distinct message_id) as messages
    from (
      select min(starts_at) as from_at, max(starts_at) + interval '15 minutes' as until_at
      from (
        select starts_at, starts_at - row_number() over (order by starts_at) * interval '15 minutes' as stretch
        from event_counters
        where organization_id = ${organizationId} and event_name = 'emailClick' and flow_id = ${flowId}
          and grain = 'quarter' and total > machine
          and starts_at > ${new Date(from)}::timestamptz - interval '15 minutes' and starts_at < ${new Date(until)}
      ) as quarter
      group by stretch
    ) as stretch
    cross join lateral (
      select link, message_id from events
      where organization_id = ${organizationId} and event_name = 'emailClick' and flow_id = ${flowId}
        and occurred_at >= greatest(from_at, ${new Date(from)}) and occurred_at < least(until_at, ${new Date(until)})
        and link is not null and not machine
      -- Keeps the planner from reading all clicks at once.
      offset 0
    ) as click
    group by link`

/** Returns the numbers of versions by id. */
export async function selectVersionNumbers(db: Reader, organizationId: OrganizationId, ids: readonly string[]) {
  if (ids.length === 0) return new Map()
  const rows = await db<{ id: string; number: number }>`
    select id, number from flow_versions where organization_id = ${organizationId} and id = any (${ids}::uuid[])`
  return new Map(rows.map(({ id, number }) => [id, number]))
}

export type LinkClick = Pick<
  ActivityRow,
  'id' | 'occurredAt' | 'machine' | 'messageId' | 'contactId' | 'email' | 'firstName'
>

export type LinkClickFilter = {
  organizationId: OrganizationId
  flowId: FlowId
  link: string
  machine: boolean | undefined
  from: Date
  until: Date
  before: Position | undefined
  limit: number
}

/** Returns the clicks on a link, newest first, one more than the limit. */
export async function selectLinkClicks(db: Reader, filter: LinkClickFilter): Promise<LinkClick[]> {
  const { organizationId, flowId, link, machine, from, until, before, limit } = filter
  const newest = before && before.occurredAt < until ? before.occurredAt : until
  const position = before ?? { occurredAt: until, id: leastId('evt', 0) }
  const counters = sql`
    flow_counters
    where organization_id = ${organizationId} and flow_id = ${flowId} and grain = 'quarter' and kind = 'link'
      and value = ${link} and event_name = 'emailClick'
      and starts_at > ${from}::timestamptz - interval '15 minutes' and starts_at <= ${newest}`
  const events = sql`
    select id, occurred_at, machine, message_id, contact_id from events
    where organization_id = ${organizationId} and event_name = 'emailClick' and flow_id = ${flowId} and link = ${link}
      and occurred_at >= ${from} and (occurred_at, id) < (${position.occurredAt}, ${position.id})
      and (${machine ?? null}::bool is null or machine = ${machine ?? null})`
  return db<LinkClick>`
    select click.id, click.occurred_at, click.machine, click.message_id, click.contact_id, contacts.email,
      contacts.first_name
    from (
      ${findByCounters({ counters, events, machine, newest, limit })}
      order by occurred_at desc, id desc
      limit ${limit + 1}
    ) as click
    left join contacts on contacts.organization_id = ${organizationId} and contacts.id = click.contact_id
    order by click.occurred_at desc, click.id desc`
}
