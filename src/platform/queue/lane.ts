import { leastUuid } from '../values/ids.ts'
import type { LaneKey } from './lanes.sql.ts'
import type { Claim } from './queue.ts'

/** A job whose transaction commits late is due before the last row read. Reading this far back finds it. */
const lookBackMs = 5_000
const lookBackEveryMs = 2_000
/** An empty lane looks back earlier if another one is read: one statement serves both. */
const lookBackEarliestMs = 1_000
const fullScanEveryMs = 60_000
/** After this many consecutive failures there is a pause before each probe, 1 ms longer each time up to the maximum. */
const failuresWithoutPause = 500
const probePauseMaxMs = 200
/** The lease must last this much longer when a job is started: enough to run most jobs and to record their outcome. */
const leaseLeftMsMin = 3_000
const beginningOfTime = new Date(0)

export type Job<Work> = { claim: Claim; work: Work }
export type Widths = { first: number; max: number }

export const laneName = (key: LaneKey) => `${key.organizationId} ${key.lane}`

/** A claimed lane: its read position, its jobs, and its width (how many jobs may run at once). */
export class Lane<Work> {
  readonly organizationId: LaneKey['organizationId']
  readonly lane: string
  readonly token: string
  /** True if there may be due jobs that have not been read. */
  hasMore = true
  running = 0
  ready: Job<Work>[] = []
  /** Incremented by each reset. Results of reads from an earlier generation are discarded. */
  generation = 0
  /** The lease lasts at least until this time, as far as the database has confirmed it. */
  leasedUntil: number

  readonly #widthMax: number
  /** Grows by 1/width per responded job, so it is fractional. */
  #width: number
  /** Ids that are ready, running or not recorded yet. Reading back must not add them twice. */
  readonly #known = new Set<string>()
  /** Ids removed while a read is running, whose snapshot may still contain them. Undefined between reads. */
  #removedDuringRead: Set<string> | undefined
  #isRetired = false
  #releasedUntil = Number.NEGATIVE_INFINITY
  #failures = 0
  #probeAt = Number.NEGATIVE_INFINITY
  #afterDue = beginningOfTime
  #afterId = leastUuid
  #lookedBackAt: number
  #scannedAt: number
  #usedAt: number
  /** When the first postponed job is due, as far as known. */
  #dueAt = Number.POSITIVE_INFINITY

  constructor(key: LaneKey, token: string, widths: Widths, leasedUntil: number) {
    const now = performance.now()
    this.organizationId = key.organizationId
    this.lane = key.lane
    this.token = token
    this.leasedUntil = leasedUntil
    this.#widthMax = widths.max
    this.#width = Math.min(widths.first, widths.max)
    this.#lookedBackAt = now
    this.#scannedAt = now
    this.#usedAt = now
  }

  /** `share` is explained at `nextRead`. */
  shouldRead(now: number, share: number): boolean {
    return (
      this.#mayRead(now, share) && (this.hasMore || now - this.#lookedBackAt >= lookBackEveryMs || now >= this.#dueAt)
    )
  }

  /** Whether it reads together with another lane. */
  joinsRead(now: number, share: number): boolean {
    return this.isEmpty && this.#mayRead(now, share) && now - this.#lookedBackAt >= lookBackEarliestMs
  }

  #mayRead(now: number, share: number): boolean {
    return !this.#isRetired && this.isLeased(now) && this.ready.length < this.#aheadOf(share)
  }

  isLeased(now = performance.now()): boolean {
    return now + leaseLeftMsMin <= this.leasedUntil
  }

  /** A job of this lane becomes due after this time. */
  dueIn(ms: number): void {
    this.#dueAt = Math.min(this.#dueAt, performance.now() + ms)
  }

  /** Whether a job that was just enqueued can be started before any other. */
  canStartNew(now: number): boolean {
    return !this.#isRetired && !this.hasMore && this.#known.size + 1 <= this.#width && this.#probeAt <= now
  }

  /** Adds a job that was not read. Returns false if it is already known. */
  add(id: string): boolean {
    if (this.#known.has(id)) return false
    this.#known.add(id)
    return true
  }

  /**
   * Returns the start position and row limit of the next read. It reads one width ahead, but to limit memory not more
   * than the lane's share of the jobs this process may have in flight. A hint that arrives after this call triggers
   * another read.
   */
  nextRead(now: number, share: number): { afterDue: Date; afterId: string; limit: number } {
    this.hasMore = false
    this.#removedDuringRead = new Set()
    if (now >= this.#dueAt) this.#dueAt = Number.POSITIVE_INFINITY
    const wanted = 2 * this.#aheadOf(share) - this.ready.length
    // Reading back returns the jobs we already have, too.
    const limit = wanted + this.#known.size
    if (now - this.#scannedAt >= fullScanEveryMs) {
      this.#scannedAt = now
      return { afterDue: beginningOfTime, afterId: leastUuid, limit }
    }
    if (now - this.#lookedBackAt >= (this.isEmpty ? lookBackEarliestMs : lookBackEveryMs)) {
      this.#lookedBackAt = now
      return { afterDue: new Date(+this.#afterDue - lookBackMs), afterId: leastUuid, limit }
    }
    return { afterDue: this.#afterDue, afterId: this.#afterId, limit: wanted }
  }

  #aheadOf(share: number): number {
    return Math.min(Math.floor(this.#width), share)
  }

  /** True if no job is ready, running or waiting for its commit. */
  get isEmpty(): boolean {
    return this.#known.size === 0
  }

  /** True if a job was started whose outcome is not recorded yet. */
  get isInFlight(): boolean {
    return this.#known.size > this.ready.length
  }

  /** True if the lane has no known jobs and none to read. */
  get isIdle(): boolean {
    return this.isEmpty && !this.hasMore
  }

  /** Moves the read position past a row. Returns false if the job is already known. */
  addRow(id: string, dueAt: Date): boolean {
    if (dueAt > this.#afterDue || (+dueAt === +this.#afterDue && id > this.#afterId)) {
      this.#afterDue = dueAt
      this.#afterId = id
    }
    if (this.#known.has(id) || this.#removedDuringRead?.has(id)) return false
    this.#known.add(id)
    return true
  }

  /** Must be called after `addRow` was called for every row of a read. */
  endRead(): void {
    this.#removedDuringRead = undefined
  }

  /** Removes a job that was settled or discarded. */
  remove(id: string): void {
    this.#known.delete(id)
    this.#removedDuringRead?.add(id)
    this.#usedAt = performance.now()
  }

  /** Discards the jobs that are ready and reads again from the beginning. */
  reset(): void {
    this.generation++
    for (const { claim } of this.ready) this.#known.delete(claim.id)
    this.ready = []
    this.#afterDue = beginningOfTime
    this.#afterId = leastUuid
    this.hasMore = true
  }

  /**
   * Discards the jobs that are ready and starts none, so that the lane is released when the running ones have ended: it may have
   * been paused, and a paused lane cannot be claimed. With `waitMs`, it is not claimed again before that time, unless it gets a
   * new job.
   */
  retire({ waitMs = 0 } = {}): void {
    this.reset()
    this.#isRetired = true
    this.#releasedUntil = performance.now() + waitMs
  }

  get isRetired(): boolean {
    return this.#isRetired
  }

  /** How long no worker should claim it after its release. */
  get waitMs(): number {
    return Math.max(0, Math.ceil(this.#releasedUntil - performance.now()))
  }

  canStart(now: number): boolean {
    return this.ready.length > 0 && this.running + 1 <= this.#width && this.#probeAt <= now && this.isLeased(now)
  }

  start(): Job<Work> {
    this.running++
    return this.ready.shift()!
  }

  finish(): void {
    this.running--
  }

  get isWide(): boolean {
    return this.#width >= this.#widthMax
  }

  peerResponded(mayWiden: boolean): void {
    this.#failures = 0
    if (mayWiden) this.#width = Math.min(this.#width + 1 / this.#width, this.#widthMax)
  }

  /** Runs one job at a time until the peer has responded. */
  narrow(): void {
    this.#width = 1
  }

  /** Narrows the lane to one probe at a time. Returns the pause before the next probe in milliseconds. */
  peerFailed(): number {
    this.#width = 1
    const pauseMs = Math.min(Math.max(0, this.#failures++ - failuresWithoutPause), probePauseMaxMs)
    this.#probeAt = performance.now() + pauseMs
    return pauseMs
  }

  isUnused(since: number): boolean {
    return this.#isRetired ? this.isEmpty : this.isIdle && this.#usedAt <= since
  }
}
