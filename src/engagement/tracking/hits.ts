import { Counter, Gauge, type Registry } from 'prom-client'
import { isConnectionFault, isDataFault } from '../../platform/db/db.ts'
import type { Log } from '../../platform/runtime/log.ts'
import { type Entry, readEntry } from './entries.ts'
import type { Spool } from './spool.ts'

/**
 * If nothing is committed for this long, the database counts as unavailable. The reader then gets a response within 300
 * ms.
 */
const patienceMs = 200
/** While other hits are being committed, the database is busy and a hit may wait longer. */
const busyPatienceMs = 2_000
const lookEveryMs = 20
const lossesLoggedEveryMs = 1_000

export type HitsParts = {
  /** Resolves when the entry is committed. May be called twice with the same entry. */
  write: (entry: Entry) => Promise<unknown>
  /** Same as `write`, through a separate recorder, so that a stalled batch cannot block the replay. */
  rewrite: (entry: Entry) => Promise<unknown>
  /** Resolves when the database responds. */
  probe: () => Promise<unknown>
  spool: Spool
  log: Log
  metrics: Registry
  nowMs?: () => number
}

/** `lost`: neither the database nor the spool accepted the entry; it was counted and logged. */
export type HitOutcome = 'recorded' | 'spooled' | 'lost'

type Waiting = {
  entry: Entry
  sinceMs: number
  settle: ((outcome: HitOutcome) => void) | undefined
  /** Set while the entry is written to the spool, so that it is not written twice to a slow disk. */
  spooling?: Promise<HitOutcome>
}

/**
 * Records opens, clicks and unsubscriptions durably. While the database is available, an entry is recorded when it is
 * committed; otherwise when it is written to the spool, from which `replay` brings it into the database. Entries
 * contain the id of their event, so that one that took both ways counts once.
 */
export class Hits {
  readonly #parts: HitsParts
  readonly #nowMs: () => number
  readonly #spooled: Counter
  readonly #lost: Counter
  #isDatabaseDown = false
  #committedAtMs = 0
  #waiting: Waiting[] = []
  #timer: NodeJS.Timeout | undefined
  #lossesSinceLog = 0
  #lossLoggedAtMs = 0
  /** Files of the spool that could not be replayed last time. */
  #stuck = new Set<string>()

  constructor(parts: HitsParts) {
    this.#parts = parts
    this.#nowMs = parts.nowMs ?? Date.now
    const registers = [parts.metrics]
    this.#spooled = new Counter({
      name: 'waxwing_hits_spooled_total',
      help: 'Hits that were spooled to disk while the database was unavailable',
      registers,
    })
    this.#lost = new Counter({
      name: 'waxwing_hits_lost_total',
      help: 'Hits that neither the database nor the spool accepted',
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

  /** Whether the database is known to be unavailable. */
  get isDatabaseDown(): boolean {
    return this.#isDatabaseDown
  }

  /** Never rejects. */
  record(entry: Entry): Promise<HitOutcome> {
    if (this.#isDatabaseDown) return this.#spool(entry)
    return new Promise((resolve) => {
      const waiting: Waiting = { entry, sinceMs: this.#nowMs(), settle: resolve }
      this.#waiting.push(waiting)
      this.#timer ??= setInterval(() => this.#expireLate(), lookEveryMs)
      this.#parts.write(entry).then(
        () => this.#committed(waiting),
        (error) => this.#failed(waiting, error),
      )
    })
  }

  /** Logs a warning at startup if the spool is not writable, since it would be too late during an outage. */
  async checkSpool(): Promise<void> {
    await this.#parts.spool
      .check()
      .catch((error: unknown) =>
        this.#parts.log.warn(
          { err: error },
          'The spool is not writable: hits are lost while the database is unavailable',
        ),
      )
  }

  /**
   * Brings spooled entries into the database. Has to be called periodically: it also detects when the database is
   * available again.
   */
  async replay(): Promise<void> {
    const { probe, log } = this.#parts
    try {
      const count = await this.#replaySpool()
      if (count === undefined) return
      if (this.#isDatabaseDown && count === 0) await probe()
      if (this.#isDatabaseDown) log.info('The database is available again')
      if (count > 0) log.info({ count }, 'Recorded spooled hits')
      this.#isDatabaseDown = false
    } catch (error) {
      if (!isConnectionFault(error)) throw error
    }
  }

  /** Settles all pending entries. */
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

  #settle(waiting: Waiting, outcome: HitOutcome): void {
    waiting.settle?.(outcome)
    waiting.settle = undefined
  }

  #failed(waiting: Waiting, error: unknown): void {
    if (isDataFault(error)) {
      // It counts when it is replayed, or could not be written to the spool.
      if (waiting.spooling) return
      this.#lose(error)
      this.#settle(waiting, 'lost')
    } else {
      if (isConnectionFault(error)) this.#markDatabaseDown((error as Error).message)
      void this.#fallBack(waiting)
    }
  }

  /** One timer for all hits: a timer per hit would cost more than the hit. */
  #expireLate(): void {
    const nowMs = this.#nowMs()
    const isBusy = nowMs - this.#committedAtMs < patienceMs
    const lateMs = nowMs - (isBusy ? busyPatienceMs : patienceMs)
    const still = this.#waiting.filter(({ settle }) => settle)
    this.#waiting = still.filter(({ sinceMs }) => sinceMs > lateMs)
    for (const waiting of still) {
      if (waiting.sinceMs > lateMs) continue
      if (!isBusy) this.#markDatabaseDown(`no commit within ${patienceMs} ms`)
      void this.#fallBack(waiting)
    }
    if (this.#waiting.length > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #markDatabaseDown(because: string): void {
    if (!this.#isDatabaseDown) this.#parts.log.warn({ because }, 'The database is unavailable; hits go to the spool')
    this.#isDatabaseDown = true
  }

  async #fallBack(waiting: Waiting): Promise<void> {
    if (!waiting.settle) return
    waiting.spooling ??= this.#spool(waiting.entry)
    this.#settle(waiting, await waiting.spooling)
  }

  async #spool(entry: Entry): Promise<HitOutcome> {
    try {
      await this.#parts.spool.append(('event' in entry ? entry.event : entry.unsubscription).organizationId, entry)
      this.#spooled.inc()
      return 'spooled'
    } catch (error) {
      this.#lose(error)
      return 'lost'
    }
  }

  /** Returns undefined if the database is still unavailable. */
  async #replaySpool(): Promise<number | undefined> {
    const { spool, log } = this.#parts
    const stuck = new Set<string>()
    const count = await spool.replay(
      (lines) => this.#rewriteAll(lines),
      (file, error) => {
        // Logged once, not on every attempt.
        if (!this.#stuck.has(file)) log.error({ err: error, file }, 'A spool file could not be replayed and is kept')
        this.#stuck.add(file)
        stuck.add(file)
      },
    )
    this.#stuck = stuck
    return count
  }

  async #rewriteAll(lines: string[]): Promise<boolean> {
    const entries = lines.flatMap((line) => readEntry(line) ?? [])
    const outcomes = await Promise.allSettled(entries.map((entry) => this.#parts.rewrite(entry)))
    const reasons = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
    for (const reason of reasons) if (isDataFault(reason)) this.#lose(reason)
    const again = reasons.filter((reason) => !isDataFault(reason))
    if (again.some(isConnectionFault)) return false
    if (again.length > 0) throw again[0]
    return true
  }

  #lose(error: unknown): void {
    this.#lost.inc()
    this.#lossesSinceLog++
    if (Date.now() - this.#lossLoggedAtMs < lossesLoggedEveryMs) return
    this.#parts.log.error({ err: error, lost: this.#lossesSinceLog }, 'Hits were lost')
    this.#lossesSinceLog = 0
    this.#lossLoggedAtMs = Date.now()
  }
}
