import { LRUCache } from 'lru-cache'
import { Counter, type Registry } from 'prom-client'
import { RateLimit } from '../runtime/rate-limit.ts'
import type { MessageId } from '../values/ids.ts'

/** A scanner follows all links of an email at once, so the burst is far above what a person does. */
const burstMax = 50
const hitsPerSecond = 5
const hitsPerDayMax = 1_000
/** About 10 MB. Beyond this number, the least recently hit messages start again with a full bucket. */
const messagesMax = 50_000
const dayMs = 24 * 60 * 60 * 1000

type Day = { startedAtMs: number; hits: number }

/**
 * Limits the hits of each message. Anyone with the URL of a pixel can request it endlessly, and each stored hit becomes
 * an event and a delivery per webhook. Beyond the limit, a hit gets a normal response and is counted, but not stored.
 *
 * Kept in memory without a query: each process allows the limit once, and a restart resets it.
 */
export class HitLimit {
  readonly #rate = new RateLimit({ perSecond: hitsPerSecond, burst: burstMax, keysMax: messagesMax })
  readonly #days = new LRUCache<MessageId, Day>({ max: messagesMax })
  readonly #limited: Counter

  constructor(metrics: Registry) {
    this.#limited = new Counter({
      name: 'waxwing_hits_limited_total',
      help: 'Opens and clicks that were answered but not stored, because their message had too many',
      registers: [metrics],
    })
  }

  /** The number of tracked messages. */
  get size(): number {
    return this.#days.size
  }

  /** Returns whether this hit should be stored. The time is monotonic. */
  allows(messageId: MessageId, nowMs = performance.now()): boolean {
    let day = this.#days.get(messageId)
    if (!day || nowMs - day.startedAtMs >= dayMs) {
      day = { startedAtMs: nowMs, hits: 0 }
      this.#days.set(messageId, day)
    }
    const isAllowed = day.hits < hitsPerDayMax && this.#rate.allow(messageId, nowMs)
    if (isAllowed) day.hits++
    else this.#limited.inc()
    return isAllowed
  }
}
