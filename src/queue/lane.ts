import type { LaneKey } from './lanes.sql.ts'
import type { Claim } from './queue.ts'

export const pollEveryMs = 250
/** Jobs committed late carry a due time before the last row read: a look this far back finds them. */
const lookBackMs = 5_000
const lookBackEveryMs = 1_000
const lookEverywhereEveryMs = 60_000
/** A lane that failed so often in a row is probed with pauses, each a millisecond longer than the one before, up to this. */
const failuresWithoutPause = 500
const probePauseMaxMs = 200
const beginningOfTime = new Date(0)
const zeroId = '00000000-0000-0000-0000-000000000000'

export type Job<Work> = { claim: Claim; work: Work }
export type Widths = { first: number; max: number }

export const laneName = (key: LaneKey) => `${key.organizationId} ${key.lane}`

/** A lane in our hands: how far it is read, what is ready and under way, and how much it may have under way. */
export class Lane<Work> {
  readonly organizationId: LaneKey['organizationId']
  readonly lane: string
  readonly token: string
  /** Whether there may be more to read than was read. */
  hungry = true
  inFlight = 0
  ready: Job<Work>[] = []
  /** Counts how often it was reset: what was asked for before belongs to a lane that is no more. */
  era = 0

  readonly #widthMax: number
  /** Grows by one when as many jobs as it is wide went well, so it is no whole number. */
  #width: number
  /** Ids that are ready, under way, or not recorded yet: a look back must not take them twice. */
  readonly #known = new Set<string>()
  /** Ids that left our hands while a read was under way, which may still have seen them. Undefined between reads. */
  #leftMeanwhile: Set<string> | undefined
  #failures = 0
  #probeAt = Number.NEGATIVE_INFINITY
  #afterDue = beginningOfTime
  #afterId = zeroId
  #readAt: number
  #lookedBackAt: number
  #lookedEverywhereAt: number
  #usedAt: number

  constructor(key: LaneKey, token: string, widths: Widths) {
    const now = performance.now()
    this.organizationId = key.organizationId
    this.lane = key.lane
    this.token = token
    this.#widthMax = widths.max
    this.#width = Math.min(widths.first, widths.max)
    this.#readAt = now
    this.#lookedBackAt = now
    this.#lookedEverywhereAt = now
    this.#usedAt = now
  }

  /** A lane at rest is polled, too: what it postponed becomes due without a hint. `share` as for `nextRead`. */
  wantsToRead(now: number, share: number): boolean {
    if (this.ready.length >= this.#aheadOf(share)) return false
    const isAtRest = this.inFlight === 0 && this.ready.length === 0
    return this.hungry || now - this.#lookedBackAt >= lookBackEveryMs || (isAtRest && now - this.#readAt >= pollEveryMs)
  }

  /**
   * Where the next read begins, and how many rows it may bring: one width ahead, but not more than the lane's share of
   * what the process works on at once, since what waits here is memory. Hints from here on count for the next read.
   */
  nextRead(now: number, share: number): { afterDue: Date; afterId: string; limit: number } {
    this.hungry = false
    this.#leftMeanwhile = new Set()
    this.#readAt = now
    const wanted = 2 * this.#aheadOf(share) - this.ready.length
    // A look back comes by what is in our hands already.
    const limit = wanted + this.#known.size
    if (now - this.#lookedEverywhereAt >= lookEverywhereEveryMs) {
      this.#lookedEverywhereAt = now
      return { afterDue: beginningOfTime, afterId: zeroId, limit }
    }
    if (now - this.#lookedBackAt >= lookBackEveryMs) {
      this.#lookedBackAt = now
      return { afterDue: new Date(+this.#afterDue - lookBackMs), afterId: zeroId, limit }
    }
    return { afterDue: this.#afterDue, afterId: this.#afterId, limit: wanted }
  }

  #aheadOf(share: number): number {
    return Math.min(Math.floor(this.#width), share)
  }

  /** Nothing to do, as far as is known. */
  get isIdle(): boolean {
    return this.#known.size === 0 && !this.hungry
  }

  /** Moves the cursor behind a row that was read. False when the row is already in our hands. */
  takesRow(id: string, dueAt: Date): boolean {
    if (dueAt > this.#afterDue || (+dueAt === +this.#afterDue && id > this.#afterId)) {
      this.#afterDue = dueAt
      this.#afterId = id
    }
    if (this.#known.has(id) || this.#leftMeanwhile?.has(id)) return false
    this.#known.add(id)
    return true
  }

  /** All rows were taken. */
  endRead(): void {
    this.#leftMeanwhile = undefined
  }

  /** Ended, or never begun. */
  forget(id: string): void {
    this.#known.delete(id)
    this.#leftMeanwhile?.add(id)
    this.#usedAt = performance.now()
  }

  /** What was read is read again, from the beginning. */
  forgetReady(): void {
    this.era++
    for (const { claim } of this.ready) this.#known.delete(claim.id)
    this.ready = []
    this.#afterDue = beginningOfTime
    this.#afterId = zeroId
    this.hungry = true
  }

  mayStart(now: number): boolean {
    return this.ready.length > 0 && this.inFlight + 1 <= this.#width && this.#probeAt <= now
  }

  start(): Job<Work> {
    this.inFlight++
    return this.ready.shift()!
  }

  answered(): void {
    this.inFlight--
  }

  get isWide(): boolean {
    return this.#width >= this.#widthMax
  }

  wentWell(mayWiden: boolean): void {
    this.#failures = 0
    if (mayWiden) this.#width = Math.min(this.#width + 1 / this.#width, this.#widthMax)
  }

  /** One job at a time, until some went well. */
  narrow(): void {
    this.#width = 1
  }

  /** One probe at a time from now on, the next after a pause of so many milliseconds. */
  wentIll(): number {
    this.#width = 1
    const pauseMs = Math.min(Math.max(0, this.#failures++ - failuresWithoutPause), probePauseMaxMs)
    this.#probeAt = performance.now() + pauseMs
    return pauseMs
  }

  isLeft(since: number): boolean {
    return this.isIdle && this.#usedAt <= since
  }
}
