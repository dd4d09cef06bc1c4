import { Counter, type Registry } from 'prom-client'
import type { MessageId } from '../values/ids.ts'

/** A scanner follows all links of an email at once, so the burst is far above what a person does. */
const burstMax = 50
const hitsPerSecond = 5
const hitsPerDayMax = 1_000
/** About 10 MB. Beyond this number, the least recently hit messages start again with a full bucket. */
const messagesMax = 50_000
const dayMs = 24 * 60 * 60 * 1000

type Bucket = { tokens: number; filledAtMs: number; dayStartedAtMs: number; hitsToday: number }

/**
 * A token bucket per message. Anyone with the URL of a pixel can request it endlessly, and each stored hit becomes an
 * event and a delivery per webhook. Beyond the limit, a hit gets a normal response and is counted, but not stored.
 *
 * Kept in memory without a query: each process allows the limit once, and a restart resets it.
 */
export class HitLimit {
  /** Ordered by their last hit. */
  readonly #buckets = new Map<MessageId, Bucket>()
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
    return this.#buckets.size
  }

  /** Returns whether this hit should be stored. */
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
  // A clock that is set back must not remove tokens.
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
