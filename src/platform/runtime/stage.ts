import { Refusal } from '../values/errors.ts'
import type { StageState } from './stage-state.ts'

export type StageLimits = {
  /** Places that one organization may use at the same time. */
  perOrganization: number
  /** Places of all organizations. */
  overall: number
  /** Further calls of one organization that may wait for a place. One more is refused with `rate_limited`. */
  waitingPerOrganization: number
  /** The longest wait for a place. After it the call is refused with `unavailable`. */
  waitMs: number
}

/** Upper bound for all waiting calls together, so that many organizations cannot fill the memory. */
const waitingMax = 5_000
const retryAfterSeconds = 1

type Waiter = { weight: number; start: () => void; timer: NodeJS.Timeout }
type Share = { used: number; waiting: Set<Waiter>; isNew: boolean }

export type StageOptions = StageLimits & {
  /**
   * Whether an organization is new. Anyone can register several of them, so new organizations share the places of one in a
   * stage that is more than half full.
   */
  isNew?: ((organizationId: string) => boolean) | undefined
}

/**
 * Work that organizations share: it has places, of which each organization may use some, so that one organization cannot
 * use up what all of them need (database connections, sockets, memory). Free places go to the waiting organizations in
 * turn, not to the one with the most calls waiting. A call may take several places, for example the bytes that it holds in
 * memory. Limits are per process. Created by `StageRegistry`, so that a running service can list its stages.
 */
export class Stage implements StageState {
  readonly #limits: StageLimits
  readonly #isNew: (organizationId: string) => boolean
  readonly #shares = new Map<string, Share>()
  #used = 0
  /** By new organizations. */
  #usedByNew = 0
  #waiting = 0
  /** Whether a call that is within the share of its organization waits for others. Later calls then wait as well. */
  #isFull = false

  constructor({ isNew = () => false, ...limits }: StageOptions) {
    this.#limits = limits
    this.#isNew = isNew
  }

  get limits() {
    return { ...this.#limits, waitingMax }
  }

  get used(): number {
    return this.#used
  }

  get waiting(): number {
    return this.#waiting
  }

  /** Organizations with running or waiting calls. */
  get organizations(): number {
    return this.#shares.size
  }

  /** Places that the organization uses. */
  usedBy(organizationId: string): number {
    return this.#shares.get(organizationId)?.used ?? 0
  }

  /**
   * Returns what `work` returns. Throws `Refusal` if too many calls are waiting, or no place became free. A call that weighs
   * more than its organization may use waits for all places of it.
   */
  async run<Result>(organizationId: string, work: () => Promise<Result>, weight = 1): Promise<Result> {
    const taken = Math.min(weight, this.#limits.perOrganization)
    const wait = this.#enter(organizationId, taken)
    if (wait) await wait
    try {
      return await work()
    } finally {
      this.#leave(organizationId, taken)
    }
  }

  /** Takes a place until the returned function is called. Throws `Refusal` as `run` does. */
  async acquire(organizationId: string, weight = 1): Promise<() => void> {
    const taken = Math.min(weight, this.#limits.perOrganization)
    await this.#enter(organizationId, taken)
    return this.#releaseOnce(organizationId, taken)
  }

  /** Like `acquire`, and returns undefined if there is no free place now. */
  tryAcquire(organizationId: string, weight = 1): (() => void) | undefined {
    const taken = Math.min(weight, this.#limits.perOrganization)
    const share = this.#shareOf(organizationId)
    if (!this.#mayStart(share, taken)) {
      this.#forget(organizationId, share)
      return undefined
    }
    this.#count(share, taken)
    return this.#releaseOnce(organizationId, taken)
  }

  #releaseOnce(organizationId: string, weight: number): () => void {
    let isReleased = false
    return () => {
      if (isReleased) return
      isReleased = true
      this.#leave(organizationId, weight)
    }
  }

  #shareOf(organizationId: string): Share {
    let share = this.#shares.get(organizationId)
    if (!share) {
      share = { used: 0, waiting: new Set(), isNew: this.#isNew(organizationId) }
      this.#shares.set(organizationId, share)
    }
    return share
  }

  #enter(organizationId: string, weight: number): Promise<void> | undefined {
    const share = this.#shareOf(organizationId)
    if (!this.#mayStart(share, weight)) return this.#wait(organizationId, share, weight)
    this.#count(share, weight)
    return undefined
  }

  #leave(organizationId: string, weight: number): void {
    const share = this.#shares.get(organizationId)!
    this.#count(share, -weight)
    this.#forget(organizationId, share)
    this.#startNext()
  }

  #mayStart(share: Share, weight: number): boolean {
    const isFree = !this.#isFull && this.#used + weight <= this.#limits.overall
    return isFree && share.waiting.size === 0 && this.#isWithinShare(share, weight)
  }

  #isWithinShare(share: Share, weight: number): boolean {
    const { perOrganization, overall } = this.#limits
    if (share.used + weight > perOrganization) return false
    return !share.isNew || this.#used + weight <= overall / 2 || this.#usedByNew + weight <= perOrganization
  }

  #count(share: Share, weight: number): void {
    share.used += weight
    this.#used += weight
    if (share.isNew) this.#usedByNew += weight
  }

  #wait(organizationId: string, share: Share, weight: number): Promise<void> {
    const { waitingPerOrganization, waitMs } = this.#limits
    const isOfOthers = share.waiting.size === 0 && this.#isWithinShare(share, weight)
    if (share.waiting.size >= waitingPerOrganization || this.#waiting >= waitingMax) {
      this.#forget(organizationId, share)
      throw isOfOthers || share.waiting.size < waitingPerOrganization ? busy() : tooMany()
    }
    this.#waiting++
    if (isOfOthers) this.#isFull = true
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(waiter.timer)
        share.waiting.delete(waiter)
        this.#waiting--
      }
      const waiter: Waiter = {
        weight,
        start: () => {
          end()
          this.#count(share, weight)
          resolve()
        },
        timer: setTimeout(() => {
          end()
          this.#forget(organizationId, share)
          reject(busy())
          this.#startNext()
        }, waitMs),
      }
      share.waiting.add(waiter)
    })
  }

  #forget(organizationId: string, share: Share): void {
    if (share.used === 0 && share.waiting.size === 0) this.#shares.delete(organizationId)
  }

  /**
   * Starts the waiting calls for which there are places, one of each organization before the second of any. Skips only
   * organizations that have used up their share.
   */
  #startNext(): void {
    this.#isFull = false
    if (this.#waiting === 0) return
    for (const [organizationId, share] of this.#shares) {
      const [next] = share.waiting
      if (!next || !this.#isWithinShare(share, next.weight)) continue
      if (this.#used + next.weight > this.#limits.overall) {
        this.#isFull = true
        return
      }
      // Moves to the end of the queue.
      this.#shares.delete(organizationId)
      this.#shares.set(organizationId, share)
      next.start()
    }
  }
}

export function tooMany(): Refusal {
  return new Refusal(
    'rate_limited',
    'Your organization has too many requests of this kind in progress. Wait for them to finish and try again.',
    { retryAfterSeconds },
  )
}

export function busy(): Refusal {
  return new Refusal('unavailable', 'Too many requests of this kind are in progress. Try again in a moment.', {
    retryAfterSeconds,
  })
}
