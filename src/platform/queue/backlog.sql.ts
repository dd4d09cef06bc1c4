import type { Reader } from '../db/db.ts'
import { sql } from '../db/sql.ts'
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
  const pending = sql`
    select organization_id, kind, lane
    from lanes
    where kind = ${kind} and next_due_at is not null and not held`
  // A distributed database can look up the oldest job only for lanes of the same node, which are not limited then.
  const oldestOf = db.isDistributed ? sql`(${pending}) as waiting` : sql`waiting`
  const [row] = await db<Backlog>`
    with waiting as materialized (${pending} order by next_due_at limit ${lanesMax}),
    due as (
      select count(*) as jobs
      from (select 1 from waiting join jobs using (organization_id, kind, lane) where due_at <= now() limit ${countMax}) as found
    ),
    later as (
      select count(*) filter (where attempt > 0) as jobs
      from (select attempt from waiting join jobs using (organization_id, kind, lane) where due_at > now() limit ${countMax}) as found
    ),
    oldest as (
      select min(first.due_at) as due_at
      from ${oldestOf}
      cross join lateral (
        select due_at from jobs
        where jobs.organization_id = waiting.organization_id and jobs.kind = waiting.kind and jobs.lane = waiting.lane
        order by due_at
        limit 1
      ) as first
    )
    select least(due.jobs + later.jobs, ${countMax}) as queued, later.jobs as postponed,
      coalesce(greatest(extract(epoch from now() - oldest.due_at), 0), 0)::float8 as lag_seconds
    from due, later, oldest`
  return row!
}
