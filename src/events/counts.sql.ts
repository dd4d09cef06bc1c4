import type { Reader } from '../db/db.ts'
import { sql } from '../db/sql.ts'
import type { EventName } from '../event-types.ts'
import type { FlowId, OrganizationId } from '../ids.ts'
import type { SpanCounters } from './spans.ts'

export type Counted = { organizationId: OrganizationId; eventNames: readonly EventName[]; flowIds: readonly FlowId[] }

export type SumRow = {
  eventName: EventName
  flowId: FlowId
  part: 'day' | 'before' | 'after'
  midnight: Date
  total: number
  unique: number
  machine: number
}

/** Days as they are; hours and quarters summed by the midnight nearest to them and the side of it they lie on. */
export async function selectSums(db: Reader, counted: Counted, counters: SpanCounters): Promise<SumRow[]> {
  const { organizationId, eventNames, flowIds } = counted
  // Conditions on the key's columns and no join, so that no plan can miss the key.
  const wanted = sql`
    organization_id = ${organizationId} and event_name = any (${eventNames}::text[]) and flow_id = any (${flowIds}::uuid[])`
  return db<SumRow>`
    select event_name, flow_id, 'day' as part, starts_at as midnight, total, uniques as unique, machine
    from event_counters
    where ${wanted} and grain = 'day'
      and starts_at >= ${new Date(counters.firstDay)} and starts_at < ${new Date(counters.lastDay)}
    union all
    select event_name, flow_id, case when starts_at < midnight then 'before' else 'after' end, midnight,
      sum(total)::int8, sum(uniques)::int8, sum(machine)::int8
    from (
      select * from event_counters
      where ${wanted} and grain = 'hour' and starts_at = any (${iso(counters.hours)}::timestamptz[])
      union all
      select * from event_counters
      where ${wanted} and grain = 'quarter' and starts_at = any (${iso(counters.quarters)}::timestamptz[])
    ) as edge
    cross join lateral (select date_bin('1 day', starts_at + interval '12 hours', '2000-01-01Z')) as nearest (midnight)
    group by 1, 2, 3, 4`
}

const iso = (times: readonly number[]): string[] => times.map((time) => new Date(time).toISOString())
