import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from './db.ts'

const pollEveryMs = 100

export type ReplicaState =
  | { kind: 'current'; afterMs: number }
  | { kind: 'behind'; bytes: number }
  | { kind: 'promoted' }
  | { kind: 'unreachable'; reason: string }

/**
 * Waits up to `withinMs` until the replica has everything that the primary has written by now. Compares WAL positions, so
 * the clocks of the servers do not matter.
 */
export async function checkReplica(primary: Db, replica: Db, withinMs: number): Promise<ReplicaState> {
  const startedAt = performance.now()
  const [written] = await primary<{ position: number }>`
    select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::int8 as position`
  for (;;) {
    const found = await findPosition(replica)
    if (found instanceof Error) return { kind: 'unreachable', reason: found.message }
    if (!found.isReplica) return { kind: 'promoted' }
    const bytes = written!.position - (found.position ?? 0)
    const afterMs = performance.now() - startedAt
    if (bytes <= 0) return { kind: 'current', afterMs }
    if (afterMs >= withinMs) return { kind: 'behind', bytes }
    await sleep(pollEveryMs)
  }
}

type Position = { position: number | null; isReplica: boolean }

async function findPosition(replica: Db): Promise<Position | Error> {
  try {
    const [row] = await replica<Position>`
      select pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::int8 as position, pg_is_in_recovery() as is_replica`
    return row!
  } catch (error) {
    return error as Error
  }
}
