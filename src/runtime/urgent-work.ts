/** How long other work is held back at once. Almost all urgent work takes less. */
const holdMs = 100
/** How long it continues in between while there is always urgent work. */
const freeMs = 25
/** Urgent work is followed by more: an email that was accepted is sent. */
const lingerMs = 5
/** How long after urgent work more of it is expected. */
const expectedForMs = 1_000

/**
 * Counts the requests and emails in progress that somebody is waiting for, and holds back other work until shortly after
 * they are done. If there is always urgent work, the other work gets a fifth of the time.
 */
export class UrgentWork {
  readonly #onHold: (isHeld: boolean) => void
  #running = 0
  #startedAt = Number.NEGATIVE_INFINITY
  #isHeld = false
  #waiting: (() => void)[] = []
  /** Ends the hold, or the time after it in which nothing is held back. */
  #limit: NodeJS.Timeout | undefined
  #lingering: NodeJS.Timeout | undefined

  constructor(onHold: (isHeld: boolean) => void) {
    this.#onHold = onHold
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#running++
    this.#startedAt = performance.now()
    clearTimeout(this.#lingering)
    if (!this.#limit) this.#hold()
    try {
      return await work()
    } finally {
      this.#running--
      if (this.#running === 0 && this.#isHeld) this.#lingering = setTimeout(() => this.#release(), lingerMs)
    }
  }

  /** Other work should be done in small portions, because more urgent work is likely to follow soon. */
  get isExpected(): boolean {
    return performance.now() - this.#startedAt < expectedForMs
  }

  /** Returns undefined if other work may start now, or a promise that resolves when it may. */
  clear(): Promise<void> | undefined {
    return this.#isHeld ? new Promise((resolve) => this.#waiting.push(resolve)) : undefined
  }

  #hold(): void {
    this.#isHeld = true
    this.#onHold(true)
    this.#limit = setTimeout(() => {
      this.#release()
      this.#limit = setTimeout(() => {
        this.#limit = undefined
        if (this.#running > 0) this.#hold()
      }, freeMs)
    }, holdMs)
  }

  #release(): void {
    clearTimeout(this.#limit)
    clearTimeout(this.#lingering)
    this.#limit = undefined
    this.#isHeld = false
    this.#onHold(false)
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}
