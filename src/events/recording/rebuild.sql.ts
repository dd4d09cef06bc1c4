import type { Tx } from '../../platform/db/db.ts'
import { allValues } from '../../platform/db/rows.ts'
import { contactChangeNames } from '../../platform/values/event-types.ts'
import type { CounterRow } from './counters.sql.ts'
import { allFlows } from './counters.ts'

const workMemory = '128MB'
const notCounted = [...contactChangeNames]

/** `repeatable read` compares a consistent snapshot while recording continues. */
export async function prepareToCompare(tx: Tx, isolation: 'repeatable read' | 'read committed'): Promise<void> {
  await tx.script(`
    set transaction isolation level ${isolation};
    set local work_mem = '${workMemory}'`)
}

/** Blocks recording until the end of the transaction. */
export async function stopRecording(tx: Tx): Promise<void> {
  await tx.script(`
    lock table events, first_occurrences, flow_counter_values, pending_counts, flow_counters, event_counters in share row exclusive mode`)
}

/** Computes the expected first occurrences, outcomes and counters from the stored events since `since`. */
export async function recount(tx: Tx, since: Date): Promise<void> {
  await tx.script(`
    create temporary table expected_firsts (like first_occurrences including indexes) on commit drop;
    create temporary table expected_outcomes (
      organization_id uuid, message_id uuid, flow_id uuid, event_name text collate "C", at timestamptz
    ) on commit drop;
    create temporary table expected_counters (like event_counters including indexes) on commit drop`)
  await tx`
    insert into expected_firsts (organization_id, subject_id, event_name, flow_id, occurred_at)
    select distinct on (1, 2, 3) organization_id, coalesce(message_id, contact_id), event_name, flow_id, occurred_at
    from events
    where not machine and event_name <> 'emailSent' and event_name <> all (${notCounted}::text[])
      and occurred_at >= ${since}
      -- The first occurrence is among events that are no longer stored.
      and not exists (
        select from first_occurrences as first
        where first.organization_id = events.organization_id
          and first.subject_id = coalesce(events.message_id, events.contact_id)
          and first.event_name = events.event_name and first.occurred_at < ${since})
    order by 1, 2, 3, occurred_at`
  await recountOutcomes(tx, since)
  await tx`
    with changes as (
      select organization_id, event_name, flow_id, occurred_at as at, 1 as total,
        (event_name = 'emailSent')::int as uniques, machine::int as machine
      from events
      where occurred_at >= ${since} and event_name <> all (${notCounted}::text[])
      union all
      select organization_id, event_name, flow_id, occurred_at, 0, 1, 0 from expected_firsts
      union all
      select organization_id, event_name, flow_id, at, 1, 1, 0 from expected_outcomes where at >= ${since}
    ),
    quarters as (
      select organization_id, event_name, flow_id, date_bin('15 minutes', at, '2000-01-01Z') as at,
        sum(total) as total, sum(uniques) as uniques, sum(machine) as machine
      from changes
      group by 1, 2, 3, 4
    )
    insert into expected_counters
    select organization_id, event_name, flow.id, grain.name, grain.starts_at, sum(total), sum(uniques), sum(machine)
    from quarters
    cross join lateral (values (flow_id), (${allFlows}::uuid)) as flow (id)
    cross join lateral (values
      ('day' collate "C", date_bin('1 day', at, '2000-01-01Z')),
      ('quarter', at)
    ) as grain (name, starts_at)
    where flow.id is not null
    group by 1, 2, 3, 4, 5`
  await tx.script('analyze expected_firsts; analyze expected_counters')
}

/** Computes which emails were returned or rejected, and when they are counted (`returned.ts`). */
async function recountOutcomes(tx: Tx, since: Date): Promise<void> {
  await tx`
    insert into expected_outcomes
    select distinct on (sent.organization_id, sent.message_id) sent.organization_id, sent.message_id, sent.flow_id,
      'emailReturned', sent.occurred_at
    from expected_firsts as bounce
    join events as sent on sent.organization_id = bounce.organization_id and sent.message_id = bounce.subject_id
    where bounce.event_name in ('emailHardBounce', 'emailSoftBounce') and sent.event_name = 'emailSent'
    order by sent.organization_id, sent.message_id, sent.occurred_at`
  await tx`
    insert into expected_outcomes
    select bounce.organization_id, bounce.subject_id, bounce.flow_id, 'emailRejected', bounce.at
    from (
      select organization_id, subject_id, flow_id, min(occurred_at) as at from expected_firsts
      where event_name in ('emailHardBounce', 'emailSoftBounce')
      group by 1, 2, 3
    ) as bounce
    join messages on messages.organization_id = bounce.organization_id and messages.id = bounce.subject_id
    where (bounce.organization_id, bounce.subject_id) not in (select organization_id, message_id from expected_outcomes)
      -- It was sent or bounced according to events that are no longer stored.
      and (messages.sent_at is null or messages.sent_at >= ${since})
      and not exists (
        select from first_occurrences as first
        where first.organization_id = messages.organization_id and first.subject_id = messages.id
          and first.event_name in ('emailHardBounce', 'emailSoftBounce') and first.occurred_at < ${since})`
}

/** Counters that are still pending must not be in the table. */
export async function subtractFromExpected(tx: Tx, rows: readonly CounterRow[]): Promise<void> {
  await tx`
    update expected_counters as expected
    set total = expected.total - pending.total, uniques = expected.uniques - pending.uniques,
      machine = expected.machine - pending.machine
    from unnest(
      ${rows.map((row) => row.organizationId)}::uuid[],
      ${rows.map((row) => row.eventName)}::text[],
      ${rows.map((row) => row.flowId)}::uuid[],
      ${rows.map((row) => row.grain)}::text[],
      ${rows.map((row) => row.startsAt)}::timestamptz[],
      ${rows.map((row) => row.total)}::int8[],
      ${rows.map((row) => row.uniques)}::int8[],
      ${rows.map((row) => row.machine)}::int8[]
    ) as pending (organization_id, event_name, flow_id, grain, starts_at, total, uniques, machine)
    where expected.organization_id = pending.organization_id and expected.event_name = pending.event_name
      and expected.flow_id = pending.flow_id and expected.grain = pending.grain and expected.starts_at = pending.starts_at`
}

export type Differences = {
  counters: number
  countersDifferent: number
  firsts: number
  firstsDifferent: number
}

/** Stores the differences in temporary tables and counts them. A counter of zeros equals a missing one. */
export async function compare(tx: Tx, since: Date): Promise<Differences> {
  await tx.script(`
    create temporary table different_counters on commit drop as
    select organization_id, event_name, flow_id, grain, starts_at,
      coalesce(stored.total, 0) as total, coalesce(stored.uniques, 0) as uniques, coalesce(stored.machine, 0) as machine,
      coalesce(expected.total, 0) as expected_total, coalesce(expected.uniques, 0) as expected_uniques,
      coalesce(expected.machine, 0) as expected_machine
    from (
      -- Earlier versions counted by hour as well.
      select * from event_counters where starts_at >= '${since.toISOString()}' and grain <> 'hour'
    ) as stored
    full join expected_counters as expected using (organization_id, event_name, flow_id, grain, starts_at)
    where (coalesce(stored.total, 0), coalesce(stored.uniques, 0), coalesce(stored.machine, 0))
      <> (coalesce(expected.total, 0), coalesce(expected.uniques, 0), coalesce(expected.machine, 0));

    create temporary table different_firsts on commit drop as
    select organization_id, subject_id, event_name, expected.flow_id, stored.occurred_at,
      expected.occurred_at as expected_at
    from (
      select * from first_occurrences where occurred_at >= '${since.toISOString()}' and occurred_at < 'infinity'
    ) as stored
    full join expected_firsts as expected using (organization_id, subject_id, event_name)
    where (stored.occurred_at, stored.flow_id) is distinct from (expected.occurred_at, expected.flow_id)`)
  const [row] = await tx<Differences>`
    select
      (select count(*) from expected_counters) as counters,
      (select count(*) from different_counters) as counters_different,
      (select count(*) from expected_firsts) as firsts,
      (select count(*) from different_firsts) as firsts_different`
  return row!
}

/** Describes up to `limit` differences. */
export const describeDifferences = (tx: Tx, limit: number) =>
  allValues(tx<{ words: string }>`
    (
      select format('counter of %s, flow %s, %s %s: total %s, unique %s, machine %s; by the events %s, %s, %s',
        event_name, flow_id, grain, to_char(starts_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI"Z"'), total, uniques,
        machine, expected_total, expected_uniques, expected_machine) as words
      from different_counters
      order by organization_id, event_name, flow_id, grain, starts_at
      limit ${limit}
    )
    union all
    (
      select format('first %s of %s: %s; by the events %s', event_name, subject_id,
        coalesce(occurred_at::text, 'none'), coalesce(expected_at::text, 'none'))
      from different_firsts
      order by organization_id, subject_id, event_name
      limit ${limit}
    )
    limit ${limit}`)

export async function correct(tx: Tx): Promise<void> {
  await tx.script(`
    insert into event_counters (organization_id, event_name, flow_id, grain, starts_at, total, uniques, machine)
    select organization_id, event_name, flow_id, grain, starts_at, expected_total, expected_uniques, expected_machine
    from different_counters
    on conflict (organization_id, event_name, flow_id, grain, starts_at) do update
    set total = excluded.total, uniques = excluded.uniques, machine = excluded.machine;

    delete from first_occurrences as first
    using different_firsts as different
    where expected_at is null and first.organization_id = different.organization_id
      and first.subject_id = different.subject_id and first.event_name = different.event_name;

    insert into first_occurrences (organization_id, subject_id, event_name, flow_id, occurred_at)
    select organization_id, subject_id, event_name, flow_id, expected_at from different_firsts
    where expected_at is not null
    on conflict (organization_id, subject_id, event_name) do update
    set flow_id = excluded.flow_id, occurred_at = excluded.occurred_at, previous_at = null`)
}
