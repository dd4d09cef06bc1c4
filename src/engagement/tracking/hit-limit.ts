import { LRUCache } from 'lru-cache'
import { Counter, type Registry } from 'prom-client'
import { type Bucket, takeToken } from '../../platform/runtime/rate-limit.ts'
import { dayMs } from '../../platform/values/durations.ts'
import type { MessageId } from '../../platform/values/ids.ts'

/** A scanner follows all links of an email at once, so the burst is far above what a person does. */
const rate = { perSecond: 5, burst: 50 }
const hitsPerDayMax = 1_000
/** About 10 MB. Beyond this number, the least recently hit messages start again with a full bucket. */
const messagesMax = 50_000

type Hits = Bucket & { dayStartedAt: number; hitsToday: number }

/**
 * Limits the hits of each message. Anyone with the URL of a pixel can request it endlessly, and each stored hit becomes
 * an event and a delivery per webhook. Beyond the limit, a hit gets a normal response and is counted, but not stored.
 *
 * Kept in memory without a query: each process allows the limit once, and a restart resets it.
 */
export class HitLimit {
  /** Created by the first hit, because it allocates its full size. */
  #messages: LRUCache<MessageId, Hits> | undefined
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
    return this.#messages?.size ?? 0
  }

  /** Returns whether this hit should be stored. The time is monotonic. */
  allows(messageId: MessageId, nowMs = performance.now()): boolean {
    this.#messages ??= new LRUCache({ max: messagesMax })
    let message = this.#messages.get(messageId)
    if (!message) {
      message = { tokens: rate.burst, filledAt: nowMs, dayStartedAt: nowMs, hitsToday: 0 }
      this.#messages.set(messageId, message)
    }
    if (nowMs - message.dayStartedAt >= dayMs) {
      message.dayStartedAt = nowMs
      message.hitsToday = 0
    }
    const isAllowed = message.hitsToday < hitsPerDayMax && takeToken(message, nowMs, rate) === 0
    if (isAllowed) message.hitsToday++
    else this.#limited.inc()
    return isAllowed
  }
}
