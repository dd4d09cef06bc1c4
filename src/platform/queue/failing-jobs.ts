import { setTimeout as sleep } from 'node:timers/promises'
import { type Db, isOutage } from '../db/db.ts'
import type { FailureLog } from '../runtime/failure-log.ts'
import type { Log } from '../runtime/log.ts'
import { hourMs, minuteMs } from '../values/durations.ts'
import type { Claim } from './queue.ts'
import { endJobs } from './settle-jobs.ts'
import { Unrecorded } from './unrecorded.ts'
import type { WorkerSpec } from './worker-spec.ts'

/** The delays after failures in a row. The last one is repeated. */
const retryDelaysMs = [10_000, minuteMs, 10 * minuteMs, hourMs]
/** After this many failures in a row, a job is given up. */
const failuresMax = 3
/** The pauses between tries to write that a job has failed grow from the first to the second. */
const writePauseMsMin = 250
const writePauseMsMax = 30_000

type FailingJobsOptions<Work> = {
  db: Db
  log: Log
  failures: FailureLog
  section: string
  spec: Pick<WorkerSpec<Work>, 'giveUp' | 'onGivenUp' | 'failuresMax' | 'isFinal'>
}

/**
 * Postpones jobs whose handler throws, with growing delays, and gives them up after several failures if the worker knows how.
 * Failures are counted in the row of the job, by all processes together. A job that must be given up is not run again, also if
 * giving it up fails.
 */
export class FailingJobs<Work> {
  readonly #options: FailingJobsOptions<Work>
  readonly #failuresMax: number
  #isStopped = false

  constructor(options: FailingJobsOptions<Work>) {
    this.#options = options
    const { giveUp, failuresMax: max = failuresMax } = options.spec
    this.#failuresMax = giveUp ? max : Number.POSITIVE_INFINITY
  }

  /** Throws if the job must not be run again. */
  check({ faults }: Claim): void {
    if (faults >= this.#failuresMax) throw new Error('The job failed repeatedly')
  }

  /**
   * Resolves when it is written that the job failed. Until then it is in flight, so that this process does not run it again. In an
   * outage, it stays due.
   */
  async failed(claim: Claim, work: Work, error: unknown): Promise<void> {
    const { db, log, failures, section, spec } = this.#options
    if (isOutage(error)) {
      failures.failed(section, error)
      const { faults } = claim
      await endJobs(db, [{ claim, retryInMs: retryDelaysMs[0]!, untried: true, faults }]).catch(() => {})
      return
    }
    const faults = spec.isFinal?.(error) ? Math.max(this.#failuresMax, claim.faults + 1) : claim.faults + 1
    const isGivenUp = faults >= this.#failuresMax
    const fields = { err: error instanceof Unrecorded ? error.cause : error, job: claim.id, faults }
    log.error(fields, isGivenUp ? 'Job failed repeatedly; it is given up' : 'Job failed; it will be retried')
    const retryInMs = retryDelaysMs[Math.min(faults, retryDelaysMs.length) - 1]!
    for (let pauseMs = writePauseMsMin; !this.#isStopped; pauseMs = Math.min(2 * pauseMs, writePauseMsMax)) {
      if (isGivenUp && (await this.#giveUp(claim, work, error))) return
      const isWritten = await endJobs(db, [{ claim, retryInMs, faults }]).then(
        () => true,
        (fault) => void failures.failed(`${section}: postponing failed jobs`, fault),
      )
      if (isWritten) return failures.succeeded(`${section}: postponing failed jobs`)
      await sleep(pauseMs)
    }
  }

  /** Must be called when the worker has stopped. */
  stop(): void {
    this.#isStopped = true
  }

  async #giveUp(claim: Claim, work: Work, error: unknown): Promise<boolean> {
    const { log, spec } = this.#options
    try {
      await spec.giveUp?.(claim, work, error)
      return true
    } catch (fault) {
      log.error({ err: fault, job: claim.id }, 'Giving up a job failed')
      return false
    } finally {
      spec.onGivenUp?.(claim.organizationId)
    }
  }
}
