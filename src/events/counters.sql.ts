import { type Sql, sql } from '../db/sql.ts'
import type { FlowId } from '../ids.ts'

/** Stands in `event_counters.flow_id` for the sum over all flows. */
export const allFlows = '00000000-0000-0000-0000-000000000000' as FlowId

/**
 * A CTE to follow one named `changes (organization_id, event_name, flow_id, at, total, uniques, machine)`: adds them to
 * the counters in every grain, for their flow and for all flows. Rows are taken in the order of their key, so that two
 * such statements cannot wait for each other.
 */
export const countChanges: Sql = sql`
  -- By quarter first: a batch of hundreds of events becomes a few rows before these are multiplied by grain and flow.
  quarters as (
    select organization_id, event_name, flow_id, date_bin('15 minutes', at, '2000-01-01Z') as at,
      sum(total) as total, sum(uniques) as uniques, sum(machine) as machine
    from changes
    group by 1, 2, 3, 4
  ),
  counted as (
    insert into event_counters (organization_id, event_name, flow_id, grain, starts_at, total, uniques, machine)
    select organization_id, event_name, flow.id, grain.name, grain.starts_at,
      sum(total)::int8, sum(uniques)::int8, sum(machine)::int8
    from quarters
    cross join lateral (values (flow_id), (${allFlows}::uuid)) as flow (id)
    cross join lateral (values
      ('day' collate "C", date_bin('1 day', at, '2000-01-01Z')),
      ('hour', date_bin('1 hour', at, '2000-01-01Z')),
      ('quarter', at)
    ) as grain (name, starts_at)
    where flow.id is not null
    group by 1, 2, 3, 4, 5
    order by 1, 2, 3, 4, 5
    on conflict (organization_id, event_name, flow_id, grain, starts_at) do update
    set total = event_counters.total + excluded.total,
      uniques = event_counters.uniques + excluded.uniques,
      machine = event_counters.machine + excluded.machine
  )`
