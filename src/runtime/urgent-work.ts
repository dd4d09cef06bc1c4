/** How long other work is held back at once. Almost all urgent work takes less. */
const holdMs = 10

/**
 * Counts the requests and emails in progress that somebody is waiting for, and holds back other work until they are
 * done. If there is always urgent work, the other work gets half of the time.
 */
export class UrgentWork {
  readonly #hold: (isHeld: boolean) => void
  #running = 0
  #isHeld = false
  /** Ends the hold, or the time after it in which nothing is held back. */
  #timer: NodeJS.Timeout | undefined

  constructor(hold: (isHeld: boolean) => void) {
    this.#hold = hold
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#running++
    this.#holdNow()
    try {
      return await work()
    } finally {
      this.#running--
      if (this.#running === 0 && this.#isHeld) this.#release()
    }
  }

  #holdNow(): void {
    if (this.#timer) return
    this.#isHeld = true
    this.#hold(true)
    this.#timer = setTimeout(() => {
      this.#release()
      this.#timer = setTimeout(() => {
        this.#timer = undefined
        if (this.#running > 0) this.#holdNow()
      }, holdMs)
    }, holdMs)
  }

  #release(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#isHeld = false
    this.#hold(false)
  }
}
