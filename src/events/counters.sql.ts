import { type Sql, sql } from '../db/sql.ts'
import { allFlows } from './all-flows.ts'

/**
 * CTEs that follow a CTE `changes (organization_id, event_name, flow_id, at, total, uniques, machine)`. `counter_rows`
 * sums up the changes as the counters store them: in every grain, per flow and for all flows.
 */
export const counterRows: Sql = sql`
  -- Aggregated by quarter-hour first: hundreds of events become a few rows before they are multiplied by grain and
  -- flow.
  quarters as (
    select organization_id, event_name, flow_id, date_bin('15 minutes', at, '2000-01-01Z') as at,
      sum(total) as total, sum(uniques) as uniques, sum(machine) as machine
    from changes
    group by 1, 2, 3, 4
  ),
  counter_rows as (
    select organization_id, event_name, flow.id as flow_id, grain.name as grain, grain.starts_at,
      sum(total)::int8 as total, sum(uniques)::int8 as uniques, sum(machine)::int8 as machine
    from quarters
    cross join lateral (values (flow_id), (${allFlows}::uuid)) as flow (id)
    cross join lateral (values
      ('day' collate "C", date_bin('1 day', at, '2000-01-01Z')),
      ('hour', date_bin('1 hour', at, '2000-01-01Z')),
      ('quarter', at)
    ) as grain (name, starts_at)
    where flow.id is not null
    group by 1, 2, 3, 4, 5
  )`

/**
 * Like `counterRows`, and adds the rows to the counters, in key order so that concurrent statements cannot deadlock.
 */
export const countChanges: Sql = sql`
  ${counterRows},
  counted as (
    insert into event_counters (organization_id, event_name, flow_id, grain, starts_at, total, uniques, machine)
    select organization_id, event_name, flow_id, grain, starts_at, total, uniques, machine from counter_rows
    order by 1, 2, 3, 4, 5
    on conflict (organization_id, event_name, flow_id, grain, starts_at) do update
    set total = event_counters.total + excluded.total,
      uniques = event_counters.uniques + excluded.uniques,
      machine = event_counters.machine + excluded.machine
  )`
