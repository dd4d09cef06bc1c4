import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from './db.ts'
import { only, onlyValue } from './rows.ts'

const pollEveryMs = 100

export type ReplicaState =
  | { kind: 'current'; afterMs: number }
  | { kind: 'behind'; bytes: number }
  | { kind: 'promoted' }
  | { kind: 'unreachable'; reason: string }

/** Waits up to `withinMs` until the replica has caught up. Compares WAL positions, so clocks do not matter. */
export async function checkReplica(primary: Db, replica: Db, withinMs: number): Promise<ReplicaState> {
  const startedAt = performance.now()
  const written = await findWritten(primary)
  for (;;) {
    const found = await findReplayed(replica).catch((error: Error) => error)
    if (found instanceof Error) return { kind: 'unreachable', reason: found.message }
    if (!found.isReplica) return { kind: 'promoted' }
    const bytes = written - (found.position ?? 0)
    const afterMs = performance.now() - startedAt
    if (bytes <= 0) return { kind: 'current', afterMs }
    if (afterMs >= withinMs) return { kind: 'behind', bytes }
    await sleep(pollEveryMs)
  }
}

/** Returns the position up to which the primary has written its WAL. */
export const findWritten = (primary: Db) =>
  onlyValue(primary<{ position: number }>`
    select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::int8 as position`)

/** Returns the position up to which a replica has replayed the WAL. */
export const findReplayed = (replica: Db) =>
  only(replica<{ position: number | null; isReplica: boolean }>`
    select pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::int8 as position, pg_is_in_recovery() as is_replica`)
