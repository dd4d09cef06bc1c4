import { Counter, type Registry } from 'prom-client'
import type { MessageId } from '../values/ids.ts'

/** A scanner follows all links of a mail at once, so the burst is far above what a person does. */
const burstMax = 50
const hitsPerSecond = 5
const hitsPerDayMax = 1_000
/** About 10 MB. Beyond it the messages that were hit longest ago start again with a full bucket. */
const messagesMax = 50_000
const dayMs = 24 * 60 * 60 * 1000

type Bucket = { tokens: number; filledAtMs: number; dayStartedAtMs: number; hitsToday: number }

/**
 * A token bucket for each message. Anyone who has the URL of a pixel can request it without end, and each stored hit
 * becomes an event and a delivery for every webhook; beyond the limit a hit is answered and counted, but not stored.
 *
 * Kept in memory without a query: each process allows the limit once, and a restart starts again.
 */
export class HitLimit {
  /** In the order of their last hit. */
  readonly #buckets = new Map<MessageId, Bucket>()
  readonly #limited: Counter

  constructor(metrics: Registry) {
    this.#limited = new Counter({
      name: 'waxwing_hits_limited_total',
      help: 'Opens and clicks that were answered but not stored, because their message had too many',
      registers: [metrics],
    })
  }

  /** Messages that are remembered. */
  get size(): number {
    return this.#buckets.size
  }

  /** Whether this hit is to be stored. */
  allows(messageId: MessageId, nowMs = Date.now()): boolean {
    let bucket = this.#buckets.get(messageId)
    if (bucket) this.#buckets.delete(messageId)
    else {
      if (this.#buckets.size >= messagesMax) this.#buckets.delete(this.#buckets.keys().next().value!)
      bucket = { tokens: burstMax, filledAtMs: nowMs, dayStartedAtMs: nowMs, hitsToday: 0 }
    }
    this.#buckets.set(messageId, bucket)
    const isAllowed = take(bucket, nowMs)
    if (!isAllowed) this.#limited.inc()
    return isAllowed
  }
}

function take(bucket: Bucket, nowMs: number): boolean {
  // A clock that was set back must not take tokens away.
  const seconds = Math.max(0, nowMs - bucket.filledAtMs) / 1000
  bucket.tokens = Math.min(burstMax, bucket.tokens + seconds * hitsPerSecond)
  bucket.filledAtMs = nowMs
  if (Math.abs(nowMs - bucket.dayStartedAtMs) >= dayMs) {
    bucket.dayStartedAtMs = nowMs
    bucket.hitsToday = 0
  }
  if (bucket.tokens < 1 || bucket.hitsToday >= hitsPerDayMax) return false
  bucket.tokens--
  bucket.hitsToday++
  return true
}
