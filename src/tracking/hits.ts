import { Counter, Gauge, type Registry } from 'prom-client'
import { isConnectionFault, isDataFault } from '../db/db.ts'
import type { Log } from '../runtime/log.ts'
import { type Entry, readEntry } from './entries.ts'
import { NotNow, type Spool } from './spool.ts'

/** When nothing at all is committed for so long, the database is away. A reader is then answered within 300 ms. */
const patienceMs = 200
/** While other hits are committed, the database is busy and one may wait longer. */
const busyPatienceMs = 2_000
const lookEveryMs = 20
const lossesLoggedEveryMs = 1_000

export type HitsParts = {
  /** Resolves when the entry is committed. May be given the same entry twice. */
  write: (entry: Entry) => Promise<unknown>
  /** The same, on a way of its own, which is not blocked by what hangs on the other. */
  rewrite: (entry: Entry) => Promise<unknown>
  /** Resolves when the database answers. */
  probe: () => Promise<unknown>
  spool: Spool
  log: Log
  metrics: Registry
  nowMs?: () => number
}

/** `lost`: neither the database nor the spool could take it; it was counted and logged. */
export type Kept = 'recorded' | 'spooled' | 'lost'

type Waiting = { entry: Entry; sinceMs: number; settle: ((kept: Kept) => void) | undefined }

/**
 * Keeps what readers do. While the database answers, an entry is kept when it is committed; when it does not, when it
 * stands in the spool, from which `replay` brings it to the database. Entries carry their event's id, so that one
 * that went both ways counts once.
 */
export class Hits {
  readonly #parts: HitsParts
  readonly #nowMs: () => number
  readonly #spooled: Counter
  readonly #lost: Counter
  #away = false
  #committedAtMs = 0
  #waiting: Waiting[] = []
  #timer: NodeJS.Timeout | undefined
  #lossesSinceLog = 0
  #lossLoggedAtMs = 0
  /** What of the spool could not be taken lately. */
  #stuck = new Set<string>()

  constructor(parts: HitsParts) {
    this.#parts = parts
    this.#nowMs = parts.nowMs ?? Date.now
    const registers = [parts.metrics]
    this.#spooled = new Counter({
      name: 'waxwing_hits_spooled_total',
      help: 'Hits that waited on the disk for the database',
      registers,
    })
    this.#lost = new Counter({
      name: 'waxwing_hits_lost_total',
      help: 'Hits that neither the database nor the spool could take',
      registers,
    })
    const { spool } = parts
    new Gauge({
      name: 'waxwing_spool_bytes',
      help: 'Size of the spool',
      registers,
      collect() {
        this.set(spool.bytes)
      },
    })
  }

  /** Whether the database is known not to answer. */
  get isAway(): boolean {
    return this.#away
  }

  /** Never rejects. */
  keep(entry: Entry): Promise<Kept> {
    if (this.#away) return this.#spool(entry)
    return new Promise((resolve) => {
      const waiting: Waiting = { entry, sinceMs: this.#nowMs(), settle: resolve }
      this.#waiting.push(waiting)
      this.#timer ??= setInterval(() => this.#lookForLate(), lookEveryMs)
      this.#parts.write(entry).then(
        () => this.#committed(waiting),
        (error) => this.#failed(waiting, error),
      )
    })
  }

  /** Says so at the start when the spool is of no use: while the database is away it would be too late. */
  async checkSpool(): Promise<void> {
    await this.#parts.spool
      .check()
      .catch((error: unknown) =>
        this.#parts.log.warn({ err: error }, 'The spool cannot be written: hits are lost while the database is away'),
      )
  }

  /** Brings what is spooled to the database. To be called again and again: it also finds out when the database is back. */
  async replay(): Promise<void> {
    const { probe, log } = this.#parts
    try {
      const count = await this.#replaySpool()
      if (this.#away && count === 0) await probe()
      if (this.#away) log.info('The database answers again')
      if (count > 0) log.info({ count }, 'Spooled hits are recorded')
      this.#away = false
    } catch (error) {
      if (!(error instanceof NotNow || isConnectionFault(error))) throw error
    }
  }

  /** Answers everybody who still waits. */
  async close(): Promise<void> {
    const waiting = this.#waiting.filter(({ settle }) => settle)
    await Promise.all(waiting.map((each) => this.#fallBack(each)))
    clearInterval(this.#timer)
    await this.#parts.spool.close()
  }

  #committed(waiting: Waiting): void {
    this.#committedAtMs = this.#nowMs()
    this.#settle(waiting, 'recorded')
  }

  #settle(waiting: Waiting, kept: Kept): void {
    waiting.settle?.(kept)
    waiting.settle = undefined
  }

  #failed(waiting: Waiting, error: unknown): void {
    if (isDataFault(error)) {
      this.#lose(error)
      this.#settle(waiting, 'lost')
    } else {
      if (isConnectionFault(error)) this.#goAway((error as Error).message)
      void this.#fallBack(waiting)
    }
  }

  /** One timer for all: a timer for each hit would cost more than the hit. */
  #lookForLate(): void {
    const nowMs = this.#nowMs()
    const isBusy = nowMs - this.#committedAtMs < patienceMs
    const lateMs = nowMs - (isBusy ? busyPatienceMs : patienceMs)
    const still = this.#waiting.filter(({ settle }) => settle)
    this.#waiting = still.filter(({ sinceMs }) => sinceMs > lateMs)
    for (const waiting of still) {
      if (waiting.sinceMs > lateMs) continue
      if (!isBusy) this.#goAway(`no commit within ${patienceMs} ms`)
      void this.#fallBack(waiting)
    }
    if (this.#waiting.length > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #goAway(because: string): void {
    if (!this.#away) this.#parts.log.warn({ because }, 'The database does not answer; hits go to the spool')
    this.#away = true
  }

  async #fallBack(waiting: Waiting): Promise<void> {
    if (waiting.settle) this.#settle(waiting, await this.#spool(waiting.entry))
  }

  async #spool(entry: Entry): Promise<Kept> {
    try {
      await this.#parts.spool.append(entry)
      this.#spooled.inc()
      return 'spooled'
    } catch (error) {
      this.#lose(error)
      return 'lost'
    }
  }

  async #replaySpool(): Promise<number> {
    const { spool, log } = this.#parts
    const stuck = new Set<string>()
    const count = await spool.replay(
      (lines) => this.#rewriteAll(lines),
      (file, error) => {
        // Told once, and not every second.
        if (!this.#stuck.has(file))
          log.error({ err: error, file }, 'A file of the spool cannot be taken; it stays for later')
        this.#stuck.add(file)
        stuck.add(file)
      },
    )
    this.#stuck = stuck
    return count
  }

  async #rewriteAll(lines: string[]): Promise<void> {
    const entries = lines.flatMap((line) => readEntry(line) ?? [])
    const outcomes = await Promise.allSettled(entries.map((entry) => this.#parts.rewrite(entry)))
    const reasons = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
    for (const reason of reasons) if (isDataFault(reason)) this.#lose(reason)
    const again = reasons.filter((reason) => !isDataFault(reason))
    if (again.some(isConnectionFault)) throw new NotNow()
    if (again.length > 0) throw again[0]
  }

  #lose(error: unknown): void {
    this.#lost.inc()
    this.#lossesSinceLog++
    if (Date.now() - this.#lossLoggedAtMs < lossesLoggedEveryMs) return
    this.#parts.log.error({ err: error, lost: this.#lossesSinceLog }, 'Hits are lost')
    this.#lossesSinceLog = 0
    this.#lossLoggedAtMs = Date.now()
  }
}
