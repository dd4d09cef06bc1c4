import { groupBy } from '../values/group-by.ts'
import type { JobKind, NewJob } from './jobs.ts'

/** A job that was just committed. Its place is known if its row was returned. */
export type EnqueuedJob = NewJob & { ctid?: string }
export type EnqueuedRow = { id: string; ctid: string; dueAt: Date }

/** What a transaction that enqueued jobs announces after its commit. */
export class Enqueued {
  readonly byKind: readonly [JobKind, EnqueuedJob[]][]
  constructor(jobs: readonly NewJob[], rows: readonly EnqueuedRow[]) {
    const rowOf = new Map(rows.map(({ id, ctid, dueAt }) => [id, { ctid, dueAt }]))
    this.byKind = groupBy(
      jobs.map((job): EnqueuedJob => ({ ...job, ...rowOf.get(job.id) })),
      ({ kind }) => kind,
    )
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
