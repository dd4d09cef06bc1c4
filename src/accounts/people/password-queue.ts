import { Stage, type StageLimits } from '../../platform/runtime/stage.ts'
import { Refusal } from '../../platform/values/errors.ts'

export type PasswordUse = 'check' | 'new'

/** Each hash takes 19 MiB of memory and about 20 ms of a core. */
const runningMax = 2
const checksWaitingMax = 200
const newWaitingMax = 50
/** A full queue is processed within this time. */
const retryAfterSeconds = 5
const waitMs = 30_000

/** It is not known yet whose passwords they are. */
const all = 'all'
const limitsOf = (running: number, waiting: number): StageLimits => ({
  perOrganization: running,
  overall: running,
  waitingPerOrganization: waiting,
  waitMs,
})

/**
 * Limits concurrent password hashes. New passwords enter the queue one at a time: they leave a slot free for sign-ins,
 * and a sign-in waits for at most one of them.
 */
export class PasswordQueue {
  readonly #all = new Stage(limitsOf(runningMax, checksWaitingMax + newWaitingMax))
  readonly #new = new Stage(limitsOf(runningMax - 1, newWaitingMax))

  async run<Result>(use: PasswordUse, work: () => Promise<Result>): Promise<Result> {
    const isFull = use === 'new' ? this.#new.waiting >= newWaitingMax : this.#all.waiting >= checksWaitingMax
    if (isFull)
      throw new Refusal('unavailable', 'Too many sign-in attempts right now. Try again in a few seconds.', {
        retryAfterSeconds,
      })
    const run = () => this.#all.run(all, work)
    return use === 'new' ? this.#new.run(all, run) : run()
  }
}
