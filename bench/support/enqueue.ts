import { type Sql, sql } from '../../src/platform/db/sql.ts'

/** CTEs that insert the rows of a CTE `new_jobs (organization_id, kind, lane, due_at, id)` and mark their lanes due. */
export const enqueueNewJobs: Sql = sql`
  jobs_written as (
    insert into jobs (organization_id, kind, lane, due_at, id)
    select organization_id, kind, lane, date_trunc('milliseconds', due_at), id from new_jobs
  ),
  lanes_woken as (
    insert into lanes (organization_id, kind, lane, next_due_at)
    select organization_id, kind, lane, min(due_at) from new_jobs
    group by organization_id, kind, lane
    order by organization_id, kind, lane
    on conflict (organization_id, kind, lane) do update set next_due_at = excluded.next_due_at
    where lanes.next_due_at is null or lanes.next_due_at > excluded.next_due_at
  )`
