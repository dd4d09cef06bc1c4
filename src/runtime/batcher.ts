import { enterSection } from './event-loop.ts'

/** The outcome of one item of a batch: its result, or an error that concerns only this item. */
export type Settled<Result> = { ok: true; value: Result } | { ok: false; error: unknown }

export type BatcherOptions<Item, Result> = {
  /** Identifies the batches in reports of a blocked event loop. */
  name?: string
  /** Processes all items and returns their outcomes in the same order. If it throws, the whole batch fails. */
  run: (items: Item[]) => Promise<Settled<Result>[]>
  itemsMax: number
  /** Further pending items are rejected with `BatcherFull`, so that a slow database cannot exhaust the memory. */
  waitingMax: number
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

export class BatcherFull extends Error {
  constructor() {
    super('Too many writes are pending.')
  }
}

const largeBatch = 100

type Pending<Item, Result> = { item: Item; resolve: (value: Result) => void; reject: (error: unknown) => void }

/**
 * Combines single calls into batches without a timer: items that arrive while a batch runs form the next one. An idle
 * service starts a batch immediately; a busy one commits once for hundreds of callers. Each call resolves after its own
 * commit.
 */
export class Batcher<Item, Result> {
  readonly #options: BatcherOptions<Item, Result>
  readonly #concurrency: number
  readonly #section: string
  #pending: Pending<Item, Result>[] = []
  #running = 0
  #scheduled = false
  #idle: (() => void)[] = []
  #startedAt = Number.NEGATIVE_INFINITY
  #pause: NodeJS.Timeout | undefined

  constructor(options: BatcherOptions<Item, Result>) {
    this.#options = options
    this.#concurrency = options.concurrency ?? 1
    this.#section = `batch ${options.name ?? 'unnamed'}`
  }

  add(item: Item): Promise<Result> {
    if (this.#pending.length >= this.#options.waitingMax) return Promise.reject(new BatcherFull())
    return new Promise((resolve, reject) => {
      this.#pending.push({ item, resolve, reject })
      this.#schedule()
    })
  }

  get isIdle(): boolean {
    return this.#running === 0 && this.#pending.length === 0
  }

  /** Resolves when no item is pending and no batch is running. */
  drained(): Promise<void> {
    if (this.isIdle) return Promise.resolve()
    return new Promise((resolve) => this.#idle.push(resolve))
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
      const batch = this.#pending.splice(0, this.#options.itemsMax)
      this.#running++
      void this.#settle(batch).finally(() => {
        this.#running--
        this.#start()
        if (this.isIdle) for (const resolve of this.#idle.splice(0)) resolve()
      })
    }
  }

  #mayStart(): boolean {
    return (
      this.#running < this.#concurrency &&
      this.#pending.length >= (this.#running === 0 ? 1 : Math.min(largeBatch, this.#options.itemsMax))
    )
  }

  #mustPause(): boolean {
    const { paceMs = 0, itemsMax } = this.#options
    if (paceMs === 0) return false
    const now = performance.now()
    const left = this.#startedAt + paceMs - now
    if (left <= 0 || this.#pending.length >= itemsMax) {
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
