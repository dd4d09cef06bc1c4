const windowMs = 60_000

/**
 * For how long organizations used something in the last minute. Of the minute before this one, a part is counted that
 * shrinks to nothing, so that what is stored is bounded by the organizations of two minutes.
 */
export class RecentUse {
  #current = new Map<string, number>()
  #previous: ReadonlyMap<string, number> = new Map()
  #startedAt = Number.NEGATIVE_INFINITY

  add(organizationId: string, ms: number, nowMs: number): void {
    this.#advance(nowMs)
    this.#current.set(organizationId, (this.#current.get(organizationId) ?? 0) + ms)
  }

  /** Returns milliseconds. */
  of(organizationId: string, nowMs: number): number {
    this.#advance(nowMs)
    const remaining = 1 - (nowMs - this.#startedAt) / windowMs
    return (this.#current.get(organizationId) ?? 0) + remaining * (this.#previous.get(organizationId) ?? 0)
  }

  #advance(nowMs: number): void {
    const passed = nowMs - this.#startedAt
    if (passed < windowMs) return
    this.#previous = passed < 2 * windowMs ? this.#current : new Map()
    this.#current = new Map()
    this.#startedAt = passed < 2 * windowMs ? this.#startedAt + windowMs : nowMs
  }
}
