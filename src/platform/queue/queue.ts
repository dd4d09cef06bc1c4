import { insertRows } from '../db/cluster/insert-rows.ts'
import type { Tx, Writer } from '../db/db.ts'
import { sql } from '../db/sql.ts'
import { groupBy } from '../values/group-by.ts'
import type { OrganizationId } from '../values/ids.ts'
import type { JobKind, NewJob } from './jobs.ts'

export type { JobKind, NewJob } from './jobs.ts'

/** A job that was just committed. The place of its row, and its due time in the database, are known if it was returned. */
export type EnqueuedJob = NewJob & { ctid?: string; isScheduled?: boolean }

/** What a transaction that enqueued jobs announces after its commit. */
export class Enqueued {
  readonly byKind: readonly [JobKind, EnqueuedJob[]][]
  constructor(jobs: readonly EnqueuedJob[]) {
    this.byKind = groupBy(jobs, ({ kind }) => kind)
  }
}

/** The settings of lanes were changed, or jobs in them became due. */
export class LanesChanged {
  readonly kind: JobKind
  readonly lanes: readonly string[]
  constructor(kind: JobKind, lanes: readonly string[]) {
    this.kind = kind
    this.lanes = lanes
  }
}

/** A job read by the worker that holds its lane. */
export type Claim = {
  organizationId: OrganizationId
  kind: JobKind
  lane: string
  id: string
  /** The row's ctid when it was read. If the row has moved since (`resumeLanes`), it is found by its id. */
  ctid: string
  /** When the job was due. Always set for a job that a worker has read. */
  dueAt?: Date
  /** How many times the job was attempted and postponed. */
  attempt: number
  /** How many times in a row it has failed since, because of an internal error. */
  faults: number
  payload: unknown
  /** The lane's token. Statements that end or postpone the job must match it. */
  token: string
}

type EnqueuedRow = { id: string; ctid: string; dueAt: Date }
/** Up to this number, new jobs are handed to a worker of this process, which then need not read them. */
const handedMax = 20

/** Whether so many jobs are handed over. On a cluster, returning the rows of an insert costs more than reading them. */
export const areHandedOver = (tx: Tx, jobs: number): boolean => jobs <= handedMax && !tx.isDistributed

/**
 * Inserts jobs and marks their lanes due. Lanes are written in key order, so that two transactions cannot deadlock. After
 * the commit, workers are woken (`Hints`).
 */
export function enqueue(tx: Tx, jobs: readonly NewJob[]): void {
  if (jobs.length === 0) return
  const isReturned = areHandedOver(tx, jobs.length)
  // The time of the statement, not of the transaction: jobs that become visible late could be skipped for a second.
  // Truncated to the milliseconds of the column: rounding up would make a job due after its lane.
  const inserted = tx.send<EnqueuedRow>`
    insert into jobs (organization_id, kind, lane, due_at, id, payload)
    select organization_id, kind, lane,
      date_trunc('milliseconds', greatest(due_at, statement_timestamp() + delay_ms * interval '1 ms')), id, payload::jsonb
    from unnest(
      ${jobs.map((job) => job.organizationId)}::uuid[],
      ${jobs.map((job) => job.kind)}::text[],
      ${jobs.map((job) => job.lane)}::text[],
      ${jobs.map((job) => job.delayMs ?? 0)}::int8[],
      ${jobs.map((job) => job.dueAt)}::timestamptz[],
      ${jobs.map((job) => job.id)}::uuid[],
      ${jobs.map((job) => (job.payload === undefined ? null : JSON.stringify(job.payload)))}::text[]
    ) as job (organization_id, kind, lane, delay_ms, due_at, id, payload)
    ${isReturned ? sql`returning id, ctid, due_at` : sql``}`
  const enqueued = inserted.then(async (rows) => new Enqueued(isReturned ? await withRows(jobs, rows) : jobs))
  // If the statement fails, so does the transaction.
  enqueued.catch(() => {})
  tx.announce(enqueued)
  const lanes = lanesOf(jobs)
  tx.send`
    insert into lanes (organization_id, kind, lane, next_due_at)
    ${insertRows(
      tx,
      {
        organization_id: ['uuid', lanes.map((lane) => lane.organizationId)],
        kind: ['text', lanes.map((lane) => lane.kind)],
        lane: ['text', lanes.map((lane) => lane.lane)],
        delay_ms: ['int8', lanes.map((lane) => lane.delayMs ?? 0)],
        due_at: ['timestamptz', lanes.map((lane) => lane.dueAt)],
      },
      "organization_id, kind, lane, greatest(due_at, statement_timestamp() + delay_ms * interval '1 ms')",
    )}
    on conflict (organization_id, kind, lane) do update set next_due_at = excluded.next_due_at
    where lanes.next_due_at is null or lanes.next_due_at > excluded.next_due_at`
}

const withRows = (jobs: readonly NewJob[], rows: readonly EnqueuedRow[]): Promise<EnqueuedJob[]> => {
  const rowOf = new Map(rows.map(({ id, ...row }) => [id, row]))
  return Promise.all(
    jobs.map(async (job) => ({
      ...job,
      ...rowOf.get(job.id),
      isScheduled: job.dueAt !== undefined,
      work: await job.work,
    })),
  )
}

/** The first job of each lane, in key order. */
function lanesOf(jobs: readonly NewJob[]): NewJob[] {
  const lanes = new Map<string, NewJob>()
  for (const job of jobs) {
    const key = `${job.organizationId} ${job.kind} ${job.lane}`
    const known = lanes.get(key)
    if (!known || delayOf(job) < delayOf(known)) lanes.set(key, job)
  }
  return [...lanes].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, job]) => job)
}

const delayOf = ({ dueAt, delayMs = 0 }: NewJob): number => (dueAt ? dueAt.getTime() - Date.now() : delayMs)

/**
 * Pauses or resumes a lane, for example of a paused webhook. The lane is marked due immediately; the worker that claims
 * it computes the actual due time.
 */
export async function setLanePaused(
  tx: Tx,
  organizationId: OrganizationId,
  kind: JobKind,
  lane: string,
  paused: boolean,
) {
  announceChange(tx, kind, [lane])
  await tx`
    insert into lanes (organization_id, kind, lane, held, next_due_at)
    values (${organizationId}, ${kind}, ${lane}, ${paused}, now())
    on conflict (organization_id, kind, lane) do update set held = excluded.held, next_due_at = excluded.next_due_at`
}

/** Pauses several lanes in one statement. They are created if they do not exist yet. */
export async function pauseLanes(
  tx: Tx,
  organizationId: OrganizationId,
  kind: JobKind,
  lanes: readonly string[],
): Promise<void> {
  announceChange(tx, kind, lanes)
  await tx`
    insert into lanes (organization_id, kind, lane, held, next_due_at)
    select ${organizationId}::uuid, ${kind}, lane, true, now()
    from unnest(${lanes}::text[]) as lane
    order by lane
    on conflict (organization_id, kind, lane) do update set held = true`
}

/**
 * Resumes lanes. Jobs that became due in the meantime are due now, so that they do not count as late; with `allDue`, all jobs
 * are.
 */
export async function resumeLanes(
  tx: Tx,
  organizationId: OrganizationId,
  kind: JobKind,
  lanes: readonly string[],
  { allDue = false } = {},
): Promise<void> {
  announceChange(tx, kind, lanes)
  await tx`
    update lanes set held = false, next_due_at = now()
    where organization_id = ${organizationId} and kind = ${kind} and lane = any (${lanes}::text[])`
  await tx`
    update jobs set due_at = date_trunc('milliseconds', now())
    where organization_id = ${organizationId} and kind = ${kind} and lane = any (${lanes}::text[])
      and (${allDue} or due_at < now())`
}

/** After the commit, workers that hold these lanes discard the jobs they have loaded and read them again. */
export function announceChange(tx: Tx, kind: JobKind, lanes: readonly string[]): void {
  tx.announce(new LanesChanged(kind, lanes))
}

/** Ends all leases. The processes that hold them do not exist if the database was restored from a backup. */
export const expireLeases = (db: Writer) => db`update lanes set leased_until = '-infinity' where token is not null`

/** Deletes a lane and all its jobs, for example of a deleted webhook. */
export async function dropLane(tx: Tx, organizationId: OrganizationId, kind: JobKind, lane: string): Promise<void> {
  await tx`delete from lanes where organization_id = ${organizationId} and kind = ${kind} and lane = ${lane}`
  await tx`delete from jobs where organization_id = ${organizationId} and kind = ${kind} and lane = ${lane}`
}
