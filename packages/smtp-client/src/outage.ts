const doublingsMax = 16

export type OutageLimits = {
  /** The wait after a failed connection doubles from the first to the longest, give or take a quarter. */
  firstWaitMs: number
  longestWaitMs: number
}

/** Remembers that the relay could not be used, and asks for another try after a wait. */
export class Outage {
  readonly #limits: OutageLimits
  readonly #retry: () => void
  #current: { since: Date; because: string; nextTryAt: Date } | undefined
  #failures = 0
  #timer: NodeJS.Timeout | undefined

  constructor(limits: OutageLimits, retry: () => void) {
    this.#limits = limits
    this.#retry = retry
  }

  get current() {
    return this.#current
  }

  note(because: string): void {
    this.#failures++
    const waitMs = this.#waitMs()
    this.#current = { since: this.#current?.since ?? new Date(), because, nextTryAt: new Date(Date.now() + waitMs) }
    clearTimeout(this.#timer)
    this.#timer = setTimeout(this.#retry, waitMs).unref()
  }

  /** Connections used at the same time fail together; that is one failure. */
  noteFirst(because: string): void {
    if (!this.#current) this.note(because)
  }

  /** A connection could be opened. Waits start short again only when a mail has passed too. */
  end(): void {
    this.#current = undefined
    clearTimeout(this.#timer)
  }

  mailPassed(): void {
    this.#failures = 0
  }

  #waitMs(): number {
    const { firstWaitMs, longestWaitMs } = this.#limits
    const doubled = Math.min(longestWaitMs, firstWaitMs * 2 ** Math.min(this.#failures - 1, doublingsMax))
    return Math.min(longestWaitMs, Math.max(firstWaitMs, doubled * (0.75 + Math.random() / 2)))
  }
}
