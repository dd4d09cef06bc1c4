import type { Reader } from '../../platform/db/db.ts'
import type { MessageId, OrganizationId } from '../../platform/values/ids.ts'

/** `isPaused`: it belongs to a broadcast that is paused. */
export type PendingSend = { id: MessageId; dueAt: Date; attempt: number; isPaused: boolean }

/**
 * Returns the pending attempts of these messages. Jobs have no index by message, so only the first `perLaneMax` of each
 * lane are searched, in the order in which they are sent.
 */
export async function selectPendingSends(
  db: Reader,
  organizationId: OrganizationId,
  ids: MessageId[],
  perLaneMax: number,
): Promise<PendingSend[]> {
  if (ids.length === 0) return []
  return db<PendingSend>`
    select first.id, first.due_at, first.attempt, lanes.held as is_paused
    from lanes
    cross join lateral (
      select id, due_at, attempt from jobs
      where jobs.organization_id = ${organizationId} and jobs.kind = lanes.kind and jobs.lane = lanes.lane
      order by due_at, id
      limit ${perLaneMax}
    ) as first
    where lanes.organization_id = ${organizationId} and lanes.kind = 'message.send' and first.id = any (${ids}::uuid[])`
}

/** Like `selectPendingSends`, for one message and without a limit: it reads the index of all emails of the organization. */
export const selectPendingSend = (db: Reader, organizationId: OrganizationId, id: MessageId) =>
  db<PendingSend>`
    select jobs.id, jobs.due_at, jobs.attempt, lanes.held as is_paused
    from jobs
    join lanes using (organization_id, kind, lane)
    where jobs.organization_id = ${organizationId} and jobs.kind = 'message.send' and jobs.id = ${id}`
