import type { Tx } from '../../platform/db/db.ts'
import { allValues } from '../../platform/db/rows.ts'
import { sql } from '../../platform/db/sql.ts'
import { domainOf, type FlowCounterRow, valuesMax } from './flow-counters.sql.ts'

/**
 * Computes the expected counters of flows from the stored events since `since`. `expected_firsts` and `expected_outcomes`
 * must exist.
 *
 * The values that are counted individually are those that are stored. Days without stored values, as from before the
 * counters were introduced, get the most frequent ones.
 */
export async function recountFlows(tx: Tx, since: Date): Promise<void> {
  await tx.script(`
    create temporary table expected_flow_values (like flow_counter_values including indexes) on commit drop;
    create temporary table expected_flow_counters (like flow_counters including indexes) on commit drop;
    create temporary table flow_changes (
      organization_id uuid, flow_id uuid, kind text collate "C", value text collate "C", event_name text collate "C", at timestamptz,
      total bigint, uniques bigint, machine bigint
    ) on commit drop;
    create temporary table unknown_flow_days (organization_id uuid, flow_id uuid, kind text collate "C", day date)
      on commit drop;
    create temporary table stored_flow_values (like flow_counter_values including indexes) on commit drop`)
  // Distributed tables cannot be joined to temporary ones in all ways that are needed here.
  await tx`insert into stored_flow_values select * from flow_counter_values`
  await tx.script('analyze stored_flow_values')
  await tx`
    insert into flow_changes
    select organization_id, flow_id, kind, value, event_name, date_bin('15 minutes', at, '2000-01-01Z'), sum(total),
      sum(uniques), sum(machine)
    from (
      select events.organization_id, events.flow_id, dimension.kind, dimension.value, event_name, occurred_at as at,
        1 as total, (event_name = 'emailSent' and dimension.kind in ('domain', 'version'))::int as uniques,
        machine::int as machine
      from events
      left join messages on messages.organization_id = events.organization_id and messages.id = events.message_id
      cross join lateral (values
        ('version', messages.flow_version_id::text), ('domain', ${domainOf(sql`messages.email`)}), ('link', link),
        ('reason', substring(data -> 'bounce' ->> 'reason' from '^[ -~]{1,100}$'))
      ) as dimension (kind, value)
      where events.flow_id is not null and dimension.value is not null and occurred_at >= ${since}
      union all
      select first.organization_id, first.flow_id, dimension.kind, dimension.value, event_name, occurred_at, 0, 1, 0
      from expected_firsts as first
      join messages on messages.organization_id = first.organization_id and messages.id = first.subject_id
      cross join lateral (values
        ('version', messages.flow_version_id::text), ('domain', ${domainOf(sql`messages.email`)})
      ) as dimension (kind, value)
      where first.flow_id is not null and dimension.value is not null
      union all
      select outcome.organization_id, outcome.flow_id, dimension.kind, dimension.value, event_name, at, 1, 1, 0
      from expected_outcomes as outcome
      join messages on messages.organization_id = outcome.organization_id and messages.id = outcome.message_id
      cross join lateral (values
        ('version', messages.flow_version_id::text), ('domain', ${domainOf(sql`messages.email`)})
      ) as dimension (kind, value)
      where outcome.flow_id is not null and dimension.value is not null and at >= ${since}
    ) as change
    group by 1, 2, 3, 4, 5, 6`
  await tx`
    insert into unknown_flow_days
    -- The domain of an erased contact is no longer known.
    select distinct events.organization_id, events.flow_id, 'domain', (occurred_at at time zone 'UTC')::date
    from events
    join messages on messages.organization_id = events.organization_id and messages.id = events.message_id
    where messages.email = '' and events.flow_id is not null and occurred_at >= ${since}`
  await tx`
    insert into expected_flow_values
    select organization_id, flow_id, kind, day, (array_agg(value order by total desc, value))[1:max(kind_max)]
    from (
      select organization_id, flow_id, kind, (at at time zone 'UTC')::date as day, value, sum(total) as total,
        (${JSON.stringify(valuesMax)}::jsonb ->> kind)::int as kind_max
      from flow_changes
      group by 1, 2, 3, 4, 5
    ) as values_of_day
    where not exists (
      select from stored_flow_values as stored
      where stored.organization_id = values_of_day.organization_id and stored.flow_id = values_of_day.flow_id
        and stored.kind = values_of_day.kind and stored.day = values_of_day.day)
    group by 1, 2, 3, 4`
  await tx`
    insert into expected_flow_counters
    select changes.organization_id, changes.flow_id, grain.name, changes.kind, grain.starts_at,
      case when changes.value = any (stored.counted) or changes.value = any (added.counted) then changes.value else '' end,
      event_name, sum(total), sum(uniques), sum(machine)
    from flow_changes as changes
    left join stored_flow_values as stored on stored.organization_id = changes.organization_id
      and stored.flow_id = changes.flow_id and stored.kind = changes.kind
      and stored.day = (at at time zone 'UTC')::date
    left join expected_flow_values as added on added.organization_id = changes.organization_id
      and added.flow_id = changes.flow_id and added.kind = changes.kind and added.day = (at at time zone 'UTC')::date
    cross join lateral (values ('day', date_bin('1 day', at, '2000-01-01Z')), ('quarter', at)) as grain (name, starts_at)
    group by 1, 2, 3, 4, 5, 6, 7`
  await tx.script('analyze expected_flow_counters')
}

/** Counters that are still pending must not be in the table. */
export async function subtractFromExpectedFlows(tx: Tx, rows: readonly FlowCounterRow[]): Promise<void> {
  await tx`
    update expected_flow_counters as expected
    set total = expected.total - pending.total, uniques = expected.uniques - pending.uniques,
      machine = expected.machine - pending.machine
    from unnest(
      ${rows.map((row) => row.organizationId)}::uuid[],
      ${rows.map((row) => row.flowId)}::uuid[],
      ${rows.map((row) => row.grain)}::text[],
      ${rows.map((row) => row.kind)}::text[],
      ${rows.map((row) => row.startsAt)}::timestamptz[],
      ${rows.map((row) => row.value)}::text[],
      ${rows.map((row) => row.eventName)}::text[],
      ${rows.map((row) => row.total)}::int8[],
      ${rows.map((row) => row.uniques)}::int8[],
      ${rows.map((row) => row.machine)}::int8[]
    ) as pending (organization_id, flow_id, grain, kind, starts_at, value, event_name, total, uniques, machine)
    where expected.organization_id = pending.organization_id and expected.flow_id = pending.flow_id
      and expected.grain = pending.grain and expected.kind = pending.kind and expected.starts_at = pending.starts_at
      and expected.value = pending.value and expected.event_name = pending.event_name`
}

/** Stores the differences in a temporary table and counts them. A counter of zeros equals a missing one. */
export async function compareFlows(tx: Tx, since: Date): Promise<{ counters: number; different: number }> {
  await tx.script(`
    create temporary table different_flow_counters on commit drop as
    select organization_id, flow_id, grain, kind, starts_at, value, event_name,
      coalesce(stored.total, 0) as total, coalesce(stored.uniques, 0) as uniques, coalesce(stored.machine, 0) as machine,
      coalesce(expected.total, 0) as expected_total, coalesce(expected.uniques, 0) as expected_uniques,
      coalesce(expected.machine, 0) as expected_machine
    from (
      select organization_id, flow_id, grain, kind, starts_at, value, event_name, total, machine,
        -- Earlier versions counted them with the events.
        case when kind = 'link' then 0 else uniques end as uniques
      from flow_counters where starts_at >= '${since.toISOString()}'
    ) as stored
    full join expected_flow_counters as expected
      using (organization_id, flow_id, grain, kind, starts_at, value, event_name)
    where (coalesce(stored.total, 0), coalesce(stored.uniques, 0), coalesce(stored.machine, 0))
        <> (coalesce(expected.total, 0), coalesce(expected.uniques, 0), coalesce(expected.machine, 0))
      and (organization_id, flow_id, kind, (starts_at at time zone 'UTC')::date) not in (
        select organization_id, flow_id, kind, day from unknown_flow_days)`)
  const [row] = await tx<{ counters: number; different: number }>`
    select (select count(*) from expected_flow_counters) as counters,
      (select count(*) from different_flow_counters) as different`
  return row!
}

/** Describes up to `limit` differences. */
export const describeFlowDifferences = (tx: Tx, limit: number) =>
  allValues(tx<{ words: string }>`
    select format('counter of %s, flow %s, %s %s, %s %s: total %s, unique %s, machine %s; by the events %s, %s, %s',
      event_name, flow_id, kind, coalesce(nullif(value, ''), '(other)'), grain,
      to_char(starts_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI"Z"'), total, uniques, machine, expected_total,
      expected_uniques, expected_machine) as words
    from different_flow_counters
    order by organization_id, flow_id, kind, grain, starts_at, value, event_name
    limit ${limit}`)

export async function correctFlows(tx: Tx): Promise<void> {
  await tx.script(`
    insert into flow_counter_values select * from expected_flow_values on conflict do nothing;

    insert into flow_counters (organization_id, flow_id, grain, kind, starts_at, value, event_name, total, uniques, machine)
    select organization_id, flow_id, grain, kind, starts_at, value, event_name, expected_total, expected_uniques,
      expected_machine
    from different_flow_counters
    on conflict (organization_id, flow_id, grain, kind, starts_at, value, event_name) do update
    set total = excluded.total, uniques = excluded.uniques, machine = excluded.machine`)
}
