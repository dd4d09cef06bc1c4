import type { Tx, Writer } from '../db/db.ts'
import { type Sql, sql } from '../db/sql.ts'
import type { OrganizationId } from '../values/ids.ts'

/** Every kind of background work there is. Each is bound to its handler in app.ts. */
export type JobKind = 'message.send' | 'webhook.deliver' | 'contacts.import'

export type NewJob = {
  organizationId: OrganizationId
  kind: JobKind
  lane: string
  id: string
  /** From now, by the database's clock. */
  delayMs?: number
  payload?: unknown
}

/** A job in the hands of a worker that holds its lane. */
export type Claim = {
  organizationId: OrganizationId
  kind: JobKind
  lane: string
  id: string
  /** Where its row stands. Nothing but ending and postponing it moves it, and that is what the lane's holder alone does. */
  ctid: string
  /** How many times it was postponed before. */
  attempt: number
  payload: unknown
  /** Proof of holding the lane: whatever ends or postpones the job has to match it. */
  token: string
}

/**
 * CTEs to follow one named `new_jobs (organization_id, kind, lane, due_at, id, payload)`: they write the jobs and wake
 * their lanes within the statement that made them. Lanes are taken in the order of their key, so that two such
 * statements cannot wait for each other.
 */
export const enqueueNewJobs: Sql = sql`
  jobs_written as (
    insert into jobs (organization_id, kind, lane, due_at, id, payload)
    -- Cut, not rounded, to the column's milliseconds: rounding up would make a job due a moment after its lane.
    -- Without "on conflict": ids are new, and the provision for one that is not costs 10 of 60 µs an event recorded.
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

/** How a claim ended: for good, or to be tried again after a while by the database's clock. */
export type Settlement = { claim: Claim; retryInMs: number | null }

/** What a statement records about each settled job: names of columns, and an array for each of them. */
export type Outcomes = { columns: Sql; arrays: Sql }

/**
 * CTEs that end or postpone jobs within the statement that records their outcome. `ours (organization_id, id,
 * retry_in_ms, …)` holds the claims whose lane still is ours, with what is to be recorded: the rest of the statement
 * must come from it, so that a worker which lost its lease changes nothing.
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
    -- By its place and not by its key, whose five columns cost a tenth of the statement to compare. Another job may stand
    -- there when ours was dropped with its lane.
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

/** For jobs with nothing else to record. */
export async function endJobs(db: Writer, settlements: Settlement[]): Promise<void> {
  await db`with ${settleJobs(settlements)} select`
}

/**
 * Keeps a lane's jobs from being read (a paused webhook), or offers them again. Offering them marks the lane due at once:
 * the worker that takes it finds out when it really is.
 */
export async function setLanePaused(
  db: Writer,
  organizationId: OrganizationId,
  kind: JobKind,
  lane: string,
  held: boolean,
) {
  await db`
    insert into lanes (organization_id, kind, lane, held, next_due_at)
    values (${organizationId}, ${kind}, ${lane}, ${held}, now())
    on conflict (organization_id, kind, lane) do update set held = excluded.held, next_due_at = excluded.next_due_at`
}

/** Forgets a lane and all its jobs (a deleted webhook). */
export async function dropLane(tx: Tx, organizationId: OrganizationId, kind: JobKind, lane: string): Promise<void> {
  await tx`delete from lanes where organization_id = ${organizationId} and kind = ${kind} and lane = ${lane}`
  await tx`delete from jobs where organization_id = ${organizationId} and kind = ${kind} and lane = ${lane}`
}
