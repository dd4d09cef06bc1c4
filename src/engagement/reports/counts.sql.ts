import type { CounterName } from '../../events/events.ts'
import type { Reader } from '../../platform/db/db.ts'
import { sql } from '../../platform/db/sql.ts'
import type { FlowId, OrganizationId } from '../../platform/values/ids.ts'
import type { SpanCounters } from './spans.ts'

export type Counted = { organizationId: OrganizationId; eventNames: readonly CounterName[]; flowIds: readonly FlowId[] }

export type SumRow = {
  eventName: CounterName
  flowId: FlowId
  part: 'day' | 'before' | 'after'
  /** In seconds. */
  midnight: number
  total: number
  unique: number
  machine: number
}

/**
 * Returns days individually, or summed under the first one; quarters are summed by the nearest midnight and the side of it.
 */
export async function selectSums(db: Reader, counted: Counted, counters: SpanCounters, daysAsOne: boolean) {
  const { organizationId, eventNames, flowIds } = counted
  // Conditions on the key columns without a join, so that every plan uses the key.
  const wanted = sql`
    organization_id = ${organizationId} and event_name = any (${eventNames}::text[]) and flow_id = any (${flowIds}::uuid[])`
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
    union all
    select event_name, flow_id, case when (starts_at < midnight) then 'before' else 'after' end,
      date_part('epoch', midnight), sum(total)::int8, sum(uniques)::int8, sum(machine)::int8
    from event_counters
    cross join lateral (select date_bin('1 day', starts_at + interval '12 hours', '2000-01-01Z')) as nearest (midnight)
    where ${wanted} and grain = 'quarter'
      -- Seconds, expanded in the database: sending thousands of timestamps as text takes longer than the rest of the
      -- query.
      and starts_at = any (array(
        select to_timestamp(second)
        from unnest(
          ${counters.quarters.map(({ from }) => from / 1000)}::int8[],
          ${counters.quarters.map(({ until }) => until / 1000)}::int8[]
        ) as stretch (from_second, until_second)
        cross join generate_series(from_second, until_second - 1, 900) as second))
    group by 1, 2, (starts_at < midnight), midnight`
}
