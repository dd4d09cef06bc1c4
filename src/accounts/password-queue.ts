import { Refusal } from '../values/errors.ts'

export type PasswordUse = 'check' | 'new'

/** Each hash takes 19 MiB of memory and about 20 ms of a core. */
const runningMax = 2
/** New passwords leave a slot free, so that many registrations cannot block sign-ins. */
const runningMaxOf: Record<PasswordUse, number> = { check: runningMax, new: runningMax - 1 }
const waitingMaxOf: Record<PasswordUse, number> = { check: 200, new: 50 }
/** A full queue is processed within this time. */
const retryAfterSeconds = 5

/** Limits concurrent password hashes. Password checks have priority over new passwords. */
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
      throw new Refusal('unavailable', 'Too many sign-in attempts right now. Try again in a few seconds.', {
        retryAfterSeconds,
      })
    return new Promise((resolve) => this.#waiting[use].push(resolve))
  }

  /** The slot is taken here and not when the waiting call resumes, so that a call in between cannot take it as well. */
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
