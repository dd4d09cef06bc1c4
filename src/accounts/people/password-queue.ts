import pLimit from 'p-limit'
import { Refusal } from '../../platform/values/errors.ts'

export type PasswordUse = 'check' | 'new'

/** Each hash takes 19 MiB of memory and about 20 ms of a core. */
const runningMax = 2
const checksWaitingMax = 200
const newWaitingMax = 50
/** A full queue is processed within this time. */
const retryAfterSeconds = 5

/**
 * Limits concurrent password hashes. New passwords enter the queue one at a time: they leave a slot free for sign-ins,
 * and a sign-in waits for at most one of them.
 */
export class PasswordQueue {
  readonly #all = pLimit(runningMax)
  readonly #new = pLimit(runningMax - 1)

  async run<Result>(use: PasswordUse, work: () => Promise<Result>): Promise<Result> {
    const isFull = use === 'new' ? this.#new.pendingCount >= newWaitingMax : this.#all.pendingCount >= checksWaitingMax
    if (isFull)
      throw new Refusal('unavailable', 'Too many sign-in attempts right now. Try again in a few seconds.', {
        retryAfterSeconds,
      })
    return use === 'new' ? this.#new(() => this.#all(work)) : this.#all(work)
  }
}
