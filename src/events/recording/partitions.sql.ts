import type { Reader, Tx, Writer } from '../../platform/db/db.ts'
import { allValues, firstValue, onlyValue } from '../../platform/db/rows.ts'
import { sqlOf } from '../../platform/db/sql.ts'
import { updateDroppedThrough } from './feed-positions.sql.ts'

const advisoryLock = 7_249_318
/** Readers and writers of events would queue behind us, so give up and retry later. */
const lockTimeoutMs = 3_000
const scanTimeoutMs = 600_000

export type Partition = { name: string; fromId: string; untilId: string }

/** Allows one process at a time, until the end of the transaction. */
export async function lockPartitions(tx: Tx): Promise<void> {
  await tx`select pg_advisory_xact_lock(${advisoryLock})`
  await tx.script(`set local lock_timeout = ${lockTimeoutMs}; set local statement_timeout = ${scanTimeoutMs}`)
}

export const selectPartitionNames = (db: Reader) =>
  allValues(db<{ name: string }>`
    select relname as name from pg_inherits
    join pg_class on pg_class.oid = inhrelid
    where inhparent = 'events'::regclass
    order by relname`)

/**
 * Creates a partition and moves the rows that the default partition contains for it, while the default partition is
 * locked. Attaching, unlike `create table … partition of`, does not block writes to other partitions.
 */
export async function createPartition(tx: Tx, { name, fromId, untilId }: Partition): Promise<void> {
  const isMoved = `id >= '${fromId}' and id < '${untilId}'`
  await runEach(tx, [
    'lock table events_default in access exclusive mode',
    `create temporary table moved on commit drop as select * from events_default where ${isMoved}`,
    `delete from events_default where ${isMoved}`,
    `create table ${name} (like events including all)`,
    `alter table events attach partition ${name} for values from ('${fromId}') to ('${untilId}')`,
    'insert into events select * from moved',
    'drop table moved',
  ])
}

/**
 * Drops a month of events. Rows with an id of that month that occurred later (a bounce has the time of its message)
 * move to the default partition, so that everything since `keptSince` is kept.
 */
export async function dropPartition(tx: Tx, name: string, keptSince: Date): Promise<void> {
  const since = keptSince.toISOString()
  await tx.script(`lock table only ${name} in share mode`)
  const position = await onlyValue(
    tx.run<{ max: string | null }>(
      sqlOf(`select max(feed_position)::text from ${name} where occurred_at < $1`, [since]),
    ),
  )
  if (position !== null) await updateDroppedThrough(tx, position)
  await runEach(tx, [
    `create temporary table late on commit drop as select * from ${name} where occurred_at >= '${since}'`,
    `alter table events detach partition ${name}`,
    `drop table ${name}`,
    'insert into events select * from late',
    'drop table late',
  ])
}

/** One by one, because a distributed database accepts only single statements that change tables. */
async function runEach(tx: Tx, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await tx.script(statement)
}

/** Deletes up to `limit` events before `keptSince` from the default partition. Returns whether there may be more. */
export async function deleteStray(tx: Tx, keptSince: Date, limit: number): Promise<boolean> {
  const positions = await allValues(tx<{ position: string }>`
    delete from events_default
    where (organization_id, id) in (
      select organization_id, id from events_default where occurred_at < ${keptSince} limit ${limit})
    returning feed_position::text as position`)
  const highest = positions.map(BigInt).reduce((highest, each) => (each > highest ? each : highest), 0n)
  if (highest > 0n) await updateDroppedThrough(tx, String(highest))
  return positions.length === limit
}

export const setKeptSince = (db: Writer, since: Date) =>
  db`
    insert into events_kept (since) values (${since})
    on conflict (only_row) do update set since = greatest(events_kept.since, excluded.since)`

/** Returns undefined if nothing was ever dropped. */
export const findKeptSince = (db: Reader) => firstValue(db<{ since: Date }>`select since from events_kept`)
