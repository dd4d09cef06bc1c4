const doublingsMax = 16

export type OutageLimits = {
  /** The delay after a failed connection doubles from the minimum to the maximum, with a jitter of 25 %. */
  retryDelayMsMin: number
  retryDelayMsMax: number
}

/** The state of an outage. Calls `retry` after a delay. */
export class Outage {
  readonly #limits: OutageLimits
  readonly #retry: () => void
  #current: { since: Date; reason: string; nextTryAt: Date } | undefined
  #failures = 0
  #timer: NodeJS.Timeout | undefined

  constructor(limits: OutageLimits, retry: () => void) {
    this.#limits = limits
    this.#retry = retry
  }

  get current() {
    return this.#current
  }

  note(reason: string): void {
    this.#failures++
    const waitMs = this.#waitMs()
    this.#current = { since: this.#current?.since ?? new Date(), reason, nextTryAt: new Date(Date.now() + waitMs) }
    clearTimeout(this.#timer)
    this.#timer = setTimeout(this.#retry, waitMs).unref()
  }

  /** Several connections that fail at the same time count as one failure. */
  noteFirst(reason: string): void {
    if (!this.#current) this.note(reason)
  }

  /** A connection was opened. The delay is reset only after an email was accepted as well. */
  end(): void {
    this.#current = undefined
    clearTimeout(this.#timer)
  }

  mailAccepted(): void {
    this.#failures = 0
  }

  #waitMs(): number {
    const { retryDelayMsMin, retryDelayMsMax } = this.#limits
    const doubled = Math.min(retryDelayMsMax, retryDelayMsMin * 2 ** Math.min(this.#failures - 1, doublingsMax))
    return Math.min(retryDelayMsMax, Math.max(retryDelayMsMin, doubled * (0.75 + Math.random() / 2)))
  }
}
