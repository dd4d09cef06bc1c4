import type { Reader } from '../db/db.ts'
import { sql } from '../db/sql.ts'
import type { EventName } from '../values/event-types.ts'
import type { FlowId, OrganizationId } from '../values/ids.ts'
import type { SpanCounters } from './spans.ts'

export type Counted = { organizationId: OrganizationId; eventNames: readonly EventName[]; flowIds: readonly FlowId[] }

export type SumRow = {
  eventName: EventName
  flowId: FlowId
  part: 'day' | 'before' | 'after'
  /** In seconds. */
  midnight: number
  total: number
  unique: number
  machine: number
}

/**
 * Days as they are, or under the first of them when they are wanted as one sum; hours and quarters summed by the
 * midnight nearest to them and the side of it they lie on.
 */
export async function selectSums(
  db: Reader,
  counted: Counted,
  counters: SpanCounters,
  daysAsOne: boolean,
): Promise<SumRow[]> {
  const { organizationId, eventNames, flowIds } = counted
  // Conditions on the key's columns and no join, so that no plan can miss the key.
  const wanted = sql`
    organization_id = ${organizationId} and event_name = any (${eventNames}::text[]) and flow_id = any (${flowIds}::uuid[])`
  const edges = (grain: 'hour' | 'quarter', seconds: number, stretches: SpanCounters['hours']) => sql`
    select event_name, flow_id, case when (starts_at < midnight) then 'before' else 'after' end,
      date_part('epoch', midnight), sum(total)::int8, sum(uniques)::int8, sum(machine)::int8
    from event_counters
    cross join lateral (select date_bin('1 day', starts_at + interval '12 hours', '2000-01-01Z')) as nearest (midnight)
    where ${wanted} and grain = ${grain}
      -- Seconds, and counted up over there: thousands of times as text take longer than all the rest.
      and starts_at = any (array(
        select to_timestamp(second)
        from unnest(
          ${stretches.map(({ from }) => from / 1000)}::int8[],
          ${stretches.map(({ until }) => until / 1000)}::int8[]
        ) as stretch (from_second, until_second)
        cross join generate_series(from_second, until_second - 1, ${seconds}) as second))
    group by 1, 2, (starts_at < midnight), midnight`
  const [firstDay, endDay] = [new Date(counters.days.from), new Date(counters.days.until)]
  return db<SumRow>`
    select event_name, flow_id, 'day' as part, date_part('epoch', midnight) as midnight,
      sum(total)::int8 as total, sum(uniques)::int8 as unique, sum(machine)::int8 as machine
    from event_counters
    cross join lateral (
      select case when ${daysAsOne} then ${firstDay}::timestamptz else starts_at end
    ) as day (midnight)
    where ${wanted} and grain = 'day'
      and starts_at >= ${firstDay} and starts_at < ${endDay}
    group by 1, 2, 3, day.midnight
    union all ${edges('hour', 3600, counters.hours)}
    union all ${edges('quarter', 900, counters.quarters)}`
}
