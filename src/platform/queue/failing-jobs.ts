import { type Db, isConnectionFault, isQueryCanceled } from '../db/db.ts'
import { createCache } from '../runtime/cache.ts'
import type { FailureLog } from '../runtime/failure-log.ts'
import type { Log } from '../runtime/log.ts'
import type { Claim } from './queue.ts'
import { endJobs } from './settle-jobs.ts'
import type { WorkerSpec } from './worker-spec.ts'

const retryMs = 10_000
/** After this many failures in a row, a job is given up. */
const failuresMax = 3
const failingJobsMax = 1_000

type FailingJobsOptions<Work> = {
  db: Db
  log: Log
  failures: FailureLog
  section: string
  giveUp: WorkerSpec<Work>['giveUp']
}

/** Postpones jobs whose handler throws, and gives them up after several failures if the worker knows how. */
export class FailingJobs<Work> {
  readonly #options: FailingJobsOptions<Work>
  /** Consecutive failures by job. */
  readonly #counts = createCache<string, number>(failingJobsMax)

  constructor(options: FailingJobsOptions<Work>) {
    this.#options = options
  }

  succeeded(id: string): void {
    this.#counts.delete(id)
  }

  async failed(claim: Claim, work: Work, error: unknown): Promise<void> {
    const { db, log, failures, section, giveUp } = this.#options
    const fields = { err: error, job: claim.id, attempt: claim.attempt }
    const count = (this.#counts.get(claim.id) ?? 0) + 1
    const isOutage = isConnectionFault(error) && !isQueryCanceled(error)
    if (giveUp && !isOutage && count >= failuresMax) {
      log.error(fields, 'Job failed repeatedly; it is given up')
      this.#counts.delete(claim.id)
      const isEnded = await giveUp(claim, work, error).then(
        () => true,
        (fault) => void log.error({ err: fault, job: claim.id }, 'Giving up a job failed'),
      )
      if (isEnded) return
    } else if (isOutage) failures.failed(section, error)
    else {
      if (giveUp) this.#counts.set(claim.id, count)
      log.error(fields, 'Job failed; it will be retried')
    }
    await endJobs(db, [{ claim, retryInMs: retryMs }]).catch(() => {})
  }
}
