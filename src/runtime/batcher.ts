import { enterSection } from './event-loop.ts'

/** What became of one item of a batch: its result, or the error that is its alone. */
export type Settled<Result> = { ok: true; value: Result } | { ok: false; error: unknown }

export type BatcherOptions<Item, Result> = {
  /** Names the batches in reports of a blocked event loop. */
  name?: string
  /** Does the work for all items at once and answers in their order. Throwing fails the whole batch. */
  run: (items: Item[]) => Promise<Settled<Result>[]>
  itemsMax: number
  /** How many items may wait. One more is refused, so that a slow database cannot fill the memory. */
  waitingMax: number
  /** Batches under way at once. Beside another one goes only a large one: a small one does better to wait and grow. */
  concurrency?: number
  /**
   * Time from the start of a batch to the next, unless that is full: for work nobody waits for, where few large batches
   * leave more of the machine to everything else. The first after a rest goes at once.
   */
  paceMs?: number
  /** Whether a failed batch is worth trying in halves: one bad item then fails alone. */
  splitOn?: (error: unknown) => boolean
}

export class BatcherFull extends Error {
  constructor() {
    super('Too much is waiting to be written.')
  }
}

const largeBatch = 100

type Waiting<Item, Result> = { item: Item; resolve: (value: Result) => void; reject: (error: unknown) => void }

/**
 * Turns single calls into batches without a timer: while one batch is under way, what arrives is the next. An idle
 * service answers at once, a busy one commits once for hundreds of callers, and each caller waits for its own commit.
 */
export class Batcher<Item, Result> {
  readonly #options: BatcherOptions<Item, Result>
  readonly #concurrency: number
  readonly #section: string
  #waiting: Waiting<Item, Result>[] = []
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
    if (this.#waiting.length >= this.#options.waitingMax) return Promise.reject(new BatcherFull())
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject })
      this.#schedule()
    })
  }

  /** Resolves when nothing waits and nothing is under way. */
  drained(): Promise<void> {
    if (this.#running === 0 && this.#waiting.length === 0) return Promise.resolve()
    return new Promise((resolve) => this.#idle.push(resolve))
  }

  // One turn of the event loop later, so that everything one read of the sockets brought goes together.
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
      const batch = this.#waiting.splice(0, this.#options.itemsMax)
      this.#running++
      void this.#settle(batch).finally(() => {
        this.#running--
        this.#start()
        if (this.#running === 0 && this.#waiting.length === 0) for (const resolve of this.#idle.splice(0)) resolve()
      })
    }
  }

  #mayStart(): boolean {
    return (
      this.#running < this.#concurrency &&
      this.#waiting.length >= (this.#running === 0 ? 1 : Math.min(largeBatch, this.#options.itemsMax))
    )
  }

  #mustPause(): boolean {
    const { paceMs = 0, itemsMax } = this.#options
    if (paceMs === 0) return false
    const now = performance.now()
    const left = this.#startedAt + paceMs - now
    if (left <= 0 || this.#waiting.length >= itemsMax) {
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

  async #settle(batch: Waiting<Item, Result>[]): Promise<void> {
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
