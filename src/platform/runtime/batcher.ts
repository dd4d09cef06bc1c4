import { enterSection } from './event-loop.ts'
import { busy, type Stage, type StageLimits, tooMany } from './stage.ts'
import type { StageState } from './stage-state.ts'

/** The outcome of one item of a batch: its result, or an error that concerns only this item. */
export type Settled<Result> = { ok: true; value: Result } | { ok: false; error: unknown }

export type BatcherOptions<Item, Result> = {
  /** Identifies the batches in reports of a blocked event loop, and among the stages of the service. */
  name: string
  /** Items are taken from the organizations in turn. Where there is none, it is what else has a share. */
  organizationOf: (item: Item) => string
  /** Processes all items and returns their outcomes in the same order. If it throws, the whole batch fails. */
  run: (items: Item[]) => Promise<Settled<Result>[]>
  itemsMax: number
  /** Further pending items of the organization are refused with `rate_limited`. */
  waitingPerOrganization: number
  /** Further pending items are refused with `unavailable`, so that a slow database cannot exhaust the memory. */
  waitingMax: number
  /**
   * The weights of a batch add up to `weightMax` at most. A heavier item waits for a place of `heavy` instead, and runs
   * alone, so that no light item waits for it.
   */
  weights?: { weightOf: (item: Item) => number; weightMax: number; heavy: StageLimits }
  /** Batches that may run at once. A second batch starts only if it is large; a small one waits and grows. */
  concurrency?: number
  /**
   * Minimum time between the starts of two batches, unless the next one is full. For work that no caller waits for:
   * fewer and larger batches use less CPU. The first batch after a pause starts immediately.
   */
  paceMs?: number
  /** Returns true if a failed batch should be retried in halves, so that one bad item does not fail the others. */
  splitOn?: (error: unknown) => boolean
}

const largeBatch = 100

type Pending<Item, Result> = {
  item: Item
  weight: number
  resolve: (value: Result) => void
  reject: (error: unknown) => void
}

/**
 * Combines single calls into batches without a timer: items that arrive while a batch runs form the next one. An idle
 * service starts a batch immediately; a busy one commits once for hundreds of callers. Each call resolves after its own
 * commit. Created by `createBatcher` and `StageRegistry`, so that a running service can list its batchers.
 */
export class Batcher<Item, Result> implements StageState {
  readonly #options: BatcherOptions<Item, Result>
  readonly #concurrency: number
  readonly #section: string
  readonly #heavy: Stage | undefined
  /** Of organizations with pending items, the one that has waited longest for its turn first. */
  readonly #queues = new Map<string, Pending<Item, Result>[]>()
  #waiting = 0
  #heavyCalls = 0
  #running = 0
  #scheduled = false
  #idle: (() => void)[] = []
  #startedAt = Number.NEGATIVE_INFINITY
  #pause: NodeJS.Timeout | undefined

  /** `heavy`: the stage of items that are too heavy for a batch, which several batchers may share. */
  constructor(options: BatcherOptions<Item, Result>, heavy?: Stage) {
    this.#options = options
    this.#concurrency = options.concurrency ?? 1
    this.#section = `batch ${options.name}`
    this.#heavy = heavy
  }

  get limits() {
    return batchLimits(this.#options)
  }

  get used(): number {
    return this.#running
  }

  get waiting(): number {
    return this.#waiting
  }

  add(item: Item): Promise<Result> {
    const { organizationOf, weights, waitingPerOrganization, waitingMax } = this.#options
    const organizationId = organizationOf(item)
    const weight = weights ? weights.weightOf(item) : 1
    if (weights && this.#heavy && weight > weights.weightMax) return this.#runAlone(this.#heavy, organizationId, item)
    let queue = this.#queues.get(organizationId)
    if (queue && queue.length >= waitingPerOrganization) return Promise.reject(tooMany())
    if (this.#waiting >= waitingMax) return Promise.reject(busy())
    if (!queue) {
      queue = []
      this.#queues.set(organizationId, queue)
    }
    this.#waiting++
    return new Promise((resolve, reject) => {
      queue.push({ item, weight, resolve, reject })
      this.#schedule()
    })
  }

  get isIdle(): boolean {
    return this.#running === 0 && this.#waiting === 0 && this.#heavyCalls === 0
  }

  /** Resolves when no item is pending and no batch is running. */
  drained(): Promise<void> {
    if (this.isIdle) return Promise.resolve()
    return new Promise((resolve) => this.#idle.push(resolve))
  }

  async #runAlone(heavy: Stage, organizationId: string, item: Item): Promise<Result> {
    this.#heavyCalls++
    try {
      return await heavy.run(
        organizationId,
        () => new Promise<Result>((resolve, reject) => void this.#settle([{ item, weight: 1, resolve, reject }])),
      )
    } finally {
      this.#heavyCalls--
      this.#reportIdle()
    }
  }

  // Deferred by one turn of the event loop, so that requests read from the sockets in this turn share a batch.
  #schedule(): void {
    if (this.#scheduled || this.#running >= this.#concurrency) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      this.#start()
    })
  }

  #start(): void {
    while (this.#mayStart()) {
      if (this.#mustPause()) return
      const batch = this.#take()
      this.#waiting -= batch.length
      this.#running++
      void this.#settle(batch).finally(() => {
        this.#running--
        this.#start()
        this.#reportIdle()
      })
    }
  }

  #reportIdle(): void {
    if (this.isIdle) for (const resolve of this.#idle.splice(0)) resolve()
  }

  /** Takes one item of each organization before the second of any, up to the limits of a batch. */
  #take(): Pending<Item, Result>[] {
    const { itemsMax, weights } = this.#options
    const weightMax = weights?.weightMax ?? Number.POSITIVE_INFINITY
    const [only] = this.#queues.values()
    if (this.#queues.size === 1 && only) {
      const batch = only.splice(0, fittingCount(only, itemsMax, weightMax))
      if (only.length === 0) this.#queues.clear()
      return batch
    }
    const batch: Pending<Item, Result>[] = []
    let weight = 0
    // An organization that is added again during the iteration is visited again.
    for (const [organizationId, queue] of this.#queues) {
      const next = queue[0]!
      if (batch.length >= itemsMax || (batch.length > 0 && weight + next.weight > weightMax)) break
      batch.push(next)
      weight += next.weight
      queue.shift()
      this.#queues.delete(organizationId)
      if (queue.length > 0) this.#queues.set(organizationId, queue)
    }
    return batch
  }

  #mayStart(): boolean {
    return (
      this.#running < this.#concurrency &&
      this.#waiting >= (this.#running === 0 ? 1 : Math.min(largeBatch, this.#options.itemsMax))
    )
  }

  #mustPause(): boolean {
    const { paceMs = 0, itemsMax } = this.#options
    if (paceMs === 0) return false
    const now = performance.now()
    const left = this.#startedAt + paceMs - now
    if (left <= 0 || this.#waiting >= itemsMax) {
      this.#startedAt = now
      clearTimeout(this.#pause)
      this.#pause = undefined
      return false
    }
    this.#pause ??= setTimeout(() => {
      this.#pause = undefined
      this.#start()
    }, left)
    return true
  }

  async #settle(batch: Pending<Item, Result>[]): Promise<void> {
    try {
      enterSection(this.#section)
      const results = await this.#options.run(batch.map(({ item }) => item))
      batch.forEach(({ resolve, reject }, index) => {
        const result = results[index]!
        if (result.ok) resolve(result.value)
        else reject(result.error)
      })
    } catch (error) {
      if (batch.length > 1 && this.#options.splitOn?.(error)) {
        const half = Math.ceil(batch.length / 2)
        await this.#settle(batch.slice(0, half))
        await this.#settle(batch.slice(half))
      } else {
        for (const { reject } of batch) reject(error)
      }
    }
  }
}

/** How many of the first items fit into a batch: at least one. */
function fittingCount(pending: readonly { weight: number }[], itemsMax: number, weightMax: number): number {
  if (weightMax === Number.POSITIVE_INFINITY) return itemsMax
  let weight = 0
  for (const [count, item] of pending.entries()) {
    weight += item.weight
    if (count >= itemsMax || (count > 0 && weight > weightMax)) return count
  }
  return pending.length
}

/** What a batcher tells of itself as a stage: each organization has its turn in every batch. */
export const batchLimits = ({
  waitingPerOrganization,
  waitingMax,
}: Pick<BatcherOptions<never, unknown>, 'waitingPerOrganization' | 'waitingMax'>) => ({
  perOrganization: 'in turn' as const,
  waitingPerOrganization,
  waitingMax,
})
