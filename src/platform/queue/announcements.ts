import { groupBy } from '../values/group-by.ts'
import type { JobKind, NewJob } from './jobs.ts'

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
