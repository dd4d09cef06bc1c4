import type { Reader } from '../db/db.ts'
import type { JobKind } from './queue.ts'

export type Backlog = {
  /** Jobs that are due or postponed, counted up to a limit. Jobs that were enqueued for a later time are neither. */
  queued: number
  /** Those of them that are postponed, for example because the relay deferred the email. */
  postponed: number
  /** How long the oldest due job has been pending. */
  lagSeconds: number
}

/**
 * Returns the pending jobs of one kind in all organizations. Paused lanes are left out. The time in the row of a lane
 * is that of its oldest job when the lane was claimed, so a lane that is busy for an hour would look an hour late:
 * the oldest job is looked up in each lane.
 */
export async function findBacklog(
  db: Reader,
  kind: JobKind,
  { countMax, lanesMax }: { countMax: number; lanesMax: number },
): Promise<Backlog> {
  const [row] = await db<Backlog>`
    with waiting as materialized (
      select organization_id, kind, lane
      from lanes
      where kind = ${kind} and next_due_at is not null and not held
      order by next_due_at
      limit ${lanesMax}
    ),
    due as (
      select count(*) as jobs
      from (select from waiting join jobs using (organization_id, kind, lane) where due_at <= now() limit ${countMax}) as found
    ),
    later as (
      select count(*) filter (where attempt > 0) as jobs
      from (select attempt from waiting join jobs using (organization_id, kind, lane) where due_at > now() limit ${countMax}) as found
    )
    select least(due.jobs + later.jobs, ${countMax}) as queued, later.jobs as postponed,
      (select coalesce(greatest(extract(epoch from now() - min(oldest.due_at)), 0), 0)::float8
        from waiting
        cross join lateral (
          select due_at from jobs
          where jobs.organization_id = waiting.organization_id and jobs.kind = waiting.kind and jobs.lane = waiting.lane
          order by due_at
          limit 1
        ) as oldest) as lag_seconds
    from due, later`
  return row!
}
