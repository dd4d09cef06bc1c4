import type { Tx } from '../db/db.ts'
import type { OrganizationId } from '../values/ids.ts'
import type { JobKind } from './queue.ts'

export type JobKey = { organizationId: OrganizationId; kind: JobKind; lane: string; id: string }
/** Both inclusive. Jobs have no index by id, so the search needs a range of due times. */
export type DueRange = { from: Date; to: Date }

/** Deletes a job whose work no longer exists. Otherwise, a worker would delete it when it is due. */
export async function deleteJob(
  tx: Tx,
  { organizationId, kind, lane, id }: JobKey,
  { from, to }: DueRange,
): Promise<boolean> {
  const rows = await tx`
    delete from jobs
    where organization_id = ${organizationId} and kind = ${kind} and lane = ${lane} and due_at between ${from} and ${to}
      and id = ${id}
    returning 1`
  return rows.length > 0
}

/**
 * Deletes a job if no worker has its lane, and returns whether it did. The lane stays locked until the end of the
 * transaction, so no worker can claim it in between. A lane whose lease expired counts as claimed: its worker may only be
 * slow.
 */
export async function withdrawJob(tx: Tx, key: JobKey, due: DueRange): Promise<boolean> {
  const { organizationId, kind, lane } = key
  const [row] = await tx<{ isClaimed: boolean }>`
    select token is not null as is_claimed from lanes
    where organization_id = ${organizationId} and kind = ${kind} and lane = ${lane}
    for update`
  return row?.isClaimed === false && deleteJob(tx, key, due)
}

/** Whether a job that was attempted before is due after this time. Reads the later jobs of its lane. */
export async function isPostponed(
  tx: Tx,
  { organizationId, kind, lane, id }: JobKey,
  dueAfter: Date,
): Promise<boolean> {
  const rows = await tx`
    select from jobs
    where organization_id = ${organizationId} and kind = ${kind} and lane = ${lane} and due_at > ${dueAfter}
      and id = ${id} and attempt > 0
    limit 1`
  return rows.length > 0
}
