import { Refusal } from '../values/errors.ts'

export type PasswordUse = 'check' | 'new'

/** Each hash takes 19 MiB and a core for some 20 ms. */
const runningMax = 2
/** New passwords leave a place free, so that a wave of registrations cannot keep people from logging in. */
const runningMaxOf: Record<PasswordUse, number> = { check: runningMax, new: runningMax - 1 }
const waitingMaxOf: Record<PasswordUse, number> = { check: 200, new: 50 }
/** Within this time a full queue is worked off. */
const retryAfterSeconds = 5

/** Runs a bounded number of password hashes at once. Checks of passwords go before new passwords. */
export class PasswordQueue {
  readonly #running: Record<PasswordUse, number> = { check: 0, new: 0 }
  readonly #waiting: Record<PasswordUse, (() => void)[]> = { check: [], new: [] }

  get running(): number {
    return this.#running.check + this.#running.new
  }

  async run<Result>(use: PasswordUse, work: () => Promise<Result>): Promise<Result> {
    if (this.#isFree(use)) this.#running[use]++
    else await this.#wait(use)
    try {
      return await work()
    } finally {
      this.#running[use]--
      this.#startNext()
    }
  }

  #isFree(use: PasswordUse): boolean {
    return this.running < runningMax && this.#running[use] < runningMaxOf[use]
  }

  #wait(use: PasswordUse): Promise<void> {
    if (this.#waiting[use].length >= waitingMaxOf[use])
      throw new Refusal('unavailable', 'Too many people are logging in right now. Try again in a few seconds.', {
        retryAfterSeconds,
      })
    return new Promise((resolve) => this.#waiting[use].push(resolve))
  }

  /** The place is taken here, not when the waiting call resumes: a call that arrives in between must not get it too. */
  #startNext(): void {
    for (const use of ['check', 'new'] as const) {
      const next = this.#isFree(use) ? this.#waiting[use].shift() : undefined
      if (!next) continue
      this.#running[use]++
      next()
      return
    }
  }
}
