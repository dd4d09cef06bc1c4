import type { Tx, Writer } from '../db/db.ts'
import { type Sql, sql } from '../db/sql.ts'
import type { OrganizationId } from '../values/ids.ts'

/** All kinds of jobs. app.ts starts a worker for each. */
export type JobKind = 'message.send' | 'webhook.deliver' | 'contacts.import'

export type NewJob = {
  organizationId: OrganizationId
  kind: JobKind
  lane: string
  id: string
  /** Relative to the clock of the database. */
  delayMs?: number
  payload?: unknown
}

/** A job read by the worker that holds its lane. */
export type Claim = {
  organizationId: OrganizationId
  kind: JobKind
  lane: string
  id: string
  /** The row's ctid. Stable while the worker holds the lane, since only the holder updates or deletes the row. */
  ctid: string
  /** How many times the job was postponed. */
  attempt: number
  payload: unknown
  /** The lane's token. Statements that end or postpone the job must match it. */
  token: string
}

/**
 * CTEs that insert the rows of a preceding CTE `new_jobs (organization_id, kind, lane, due_at, id, payload)` as jobs
 * and mark their lanes due. Lanes are written in key order, so that two such statements cannot deadlock.
 */
export const enqueueNewJobs: Sql = sql`
  jobs_written as (
    insert into jobs (organization_id, kind, lane, due_at, id, payload)
    -- Truncated to the milliseconds of the column: rounding up would make a job due after its lane.
    -- No "on conflict": ids are always new, and the clause costs 10 of 60 µs per recorded event.
    select organization_id, kind, lane, date_trunc('milliseconds', due_at), id, payload from new_jobs
  ),
  lanes_woken as (
    insert into lanes (organization_id, kind, lane, next_due_at)
    select organization_id, kind, lane, min(due_at) from new_jobs
    group by organization_id, kind, lane
    order by organization_id, kind, lane
    on conflict (organization_id, kind, lane) do update set next_due_at = excluded.next_due_at
    where lanes.next_due_at is null or lanes.next_due_at > excluded.next_due_at
  )`

export async function enqueue(db: Writer, jobs: NewJob[]): Promise<void> {
  await db`
    with new_jobs as (
      select organization_id, kind, lane, now() + delay_ms * interval '1 ms' as due_at, id, payload::jsonb
      from unnest(
        ${jobs.map((job) => job.organizationId)}::uuid[],
        ${jobs.map((job) => job.kind)}::text[],
        ${jobs.map((job) => job.lane)}::text[],
        ${jobs.map((job) => job.delayMs ?? 0)}::int8[],
        ${jobs.map((job) => job.id)}::uuid[],
        ${jobs.map((job) => (job.payload === undefined ? null : JSON.stringify(job.payload)))}::text[]
      ) as job (organization_id, kind, lane, delay_ms, id, payload)
    ), ${enqueueNewJobs}
    select`
}

/** The job is deleted if `retryInMs` is null, otherwise postponed by that time on the clock of the database. */
export type Settlement = { claim: Claim; retryInMs: number | null }

/** Additional columns to record for each settled job: their names, and one array per column. */
export type Outcomes = { columns: Sql; arrays: Sql }

/**
 * CTEs that delete or postpone jobs in the statement that records their outcome. `ours (organization_id, id,
 * retry_in_ms, …)` holds the settlements whose lane is still claimed by this worker. The rest of the statement must
 * select from `ours`, so that a worker that lost its lease changes nothing.
 */
export function settleJobs(settlements: Settlement[], outcomes?: Outcomes): Sql {
  return sql`
    settled as (
      select * from unnest(
        ${settlements.map(({ claim }) => claim.organizationId)}::uuid[],
        ${settlements.map(({ claim }) => claim.kind)}::text[],
        ${settlements.map(({ claim }) => claim.lane)}::text[],
        ${settlements.map(({ claim }) => claim.ctid)}::tid[],
        ${settlements.map(({ claim }) => claim.id)}::uuid[],
        ${settlements.map(({ claim }) => claim.token)}::uuid[],
        ${settlements.map(({ retryInMs }) => retryInMs)}::int8[]${outcomes ? sql`, ${outcomes.arrays}` : sql``}
      ) as settled (organization_id, kind, lane, row_ctid, id, token, retry_in_ms${outcomes ? sql`, ${outcomes.columns}` : sql``})
    ),
    ours as materialized (
      select settled.* from settled
      join lanes using (organization_id, kind, lane, token)
    ),
    -- By ctid, since comparing the five key columns takes a tenth of the statement's time. The id is compared as well:
    -- if the lane was dropped, the ctid may belong to another job.
    jobs_ended as (
      delete from jobs using ours
      where jobs.ctid = ours.row_ctid and jobs.id = ours.id and ours.retry_in_ms is null
    ),
    jobs_postponed as (
      update jobs
      set due_at = now() + ours.retry_in_ms * interval '1 ms', attempt = jobs.attempt + 1
      from ours
      where jobs.ctid = ours.row_ctid and jobs.id = ours.id and ours.retry_in_ms is not null
    )`
}

/** Settles jobs that have nothing else to record. */
export async function endJobs(db: Writer, settlements: Settlement[]): Promise<void> {
  await db`with ${settleJobs(settlements)} select`
}

/**
 * Pauses or resumes a lane, for example of a paused webhook. The lane is marked due immediately; the worker that claims
 * it computes the actual due time.
 */
export async function setLanePaused(
  db: Writer,
  organizationId: OrganizationId,
  kind: JobKind,
  lane: string,
  paused: boolean,
) {
  await db`
    insert into lanes (organization_id, kind, lane, held, next_due_at)
    values (${organizationId}, ${kind}, ${lane}, ${paused}, now())
    on conflict (organization_id, kind, lane) do update set held = excluded.held, next_due_at = excluded.next_due_at`
}

/** Deletes a lane and all its jobs, for example of a deleted webhook. */
export async function dropLane(tx: Tx, organizationId: OrganizationId, kind: JobKind, lane: string): Promise<void> {
  await tx`delete from lanes where organization_id = ${organizationId} and kind = ${kind} and lane = ${lane}`
  await tx`delete from jobs where organization_id = ${organizationId} and kind = ${kind} and lane = ${lane}`
}
