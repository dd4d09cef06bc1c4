import { Refusal } from '../errors.ts'

const bucketsMax = 100_000

type Bucket = { tokens: number; filledAt: number }

/** A token bucket per key: `perSecond` on average, as many at once. Zero means no limit. */
export class RateLimit {
  readonly #perSecond: number
  readonly #buckets = new Map<string, Bucket>()

  constructor(perSecond: number) {
    this.#perSecond = perSecond
  }

  /** Refuses the call that is one too many. By a clock that nobody sets: one set back would lock everybody out. */
  take(key: string, nowMs = performance.now()): void {
    if (this.#perSecond === 0) return
    let bucket = this.#buckets.get(key)
    if (!bucket) {
      // A full bucket is the same as none, so old ones may go.
      if (this.#buckets.size >= bucketsMax) this.#buckets.clear()
      bucket = { tokens: this.#perSecond, filledAt: nowMs }
      this.#buckets.set(key, bucket)
    }
    bucket.tokens = Math.min(this.#perSecond, bucket.tokens + ((nowMs - bucket.filledAt) / 1000) * this.#perSecond)
    bucket.filledAt = nowMs
    if (bucket.tokens < 1)
      throw new Refusal(
        'rate_limited',
        `This key may make ${this.#perSecond} requests a second. Slow down and try again.`,
        {
          retryAfterSeconds: Math.max(1, (1 - bucket.tokens) / this.#perSecond),
        },
      )
    bucket.tokens -= 1
  }
}
