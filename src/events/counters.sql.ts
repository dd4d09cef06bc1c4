import type { Tx } from '../db/db.ts'
import { insertRows } from '../db/insert-rows.ts'
import { type Sql, sql } from '../db/sql.ts'
import { allFlows } from './all-flows.ts'
import type { CounterChanges } from './counters.ts'

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

/** Counters are shared by all writers, so this is the last statement of a transaction. */
export function addToCounters(tx: Tx, changes: CounterChanges): void {
  const rows = changes.rows()
  if (rows.length === 0) return
  tx.send`
    insert into event_counters (organization_id, event_name, flow_id, grain, starts_at, total, uniques, machine)
    ${insertRows(tx, [
      ['uuid', rows.map((row) => row.organizationId)],
      ['text', rows.map((row) => row.eventName)],
      ['uuid', rows.map((row) => row.flowId)],
      ['text', rows.map((row) => row.grain)],
      ['timestamptz', rows.map((row) => row.startsAt)],
      ['int8', rows.map((row) => row.total)],
      ['int8', rows.map((row) => row.uniques)],
      ['int8', rows.map((row) => row.machine)],
    ])}
    on conflict (organization_id, event_name, flow_id, grain, starts_at) do update
    set total = event_counters.total + excluded.total,
      uniques = event_counters.uniques + excluded.uniques,
      machine = event_counters.machine + excluded.machine`
}
