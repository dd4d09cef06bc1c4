import type { Reader, Tx } from '../../platform/db/db.ts'
import type { FlowId, OrganizationId } from '../../platform/values/ids.ts'
import type { CounterName } from './counters.sql.ts'
import type { DimensionKind } from './flow-counters.sql.ts'

/** The change of a counter in the quarter of an hour that starts at this time; with a value, of a counter of its flow. */
export type Count = [
  eventName: CounterName,
  flowId: FlowId,
  startsAtMs: number,
  total: number,
  uniques: number,
  machine: number,
  kind?: DimensionKind,
  value?: string,
]

export type PendingCounts = { organizationId: OrganizationId; counts: Count[] }

export function insertPendingCounts(tx: Tx, pending: readonly PendingCounts[]): void {
  tx.send`
    insert into pending_counts (organization_id, counts)
    select organization_id, counts::json
    from unnest(
      ${pending.map(({ organizationId }) => organizationId)}::uuid[],
      ${pending.map(({ counts }) => JSON.stringify(counts))}::text[]
    ) as row (organization_id, counts)`
}

/** Deletes and returns some rows, except those that another process is deleting. */
export const deletePendingCounts = (tx: Tx, limit: number): Promise<PendingCounts[]> => tx<PendingCounts>`
  delete from pending_counts
  where ctid = any (array(select ctid from pending_counts limit ${limit} for update skip locked))
  returning organization_id, counts`

export const selectPendingCounts = (db: Reader): Promise<PendingCounts[]> => db<PendingCounts>`
  select organization_id, counts from pending_counts`
