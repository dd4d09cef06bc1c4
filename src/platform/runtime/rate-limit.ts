import { Refusal } from '../values/errors.ts'

const keysMaxDefault = 100_000

export type RateLimitOptions = {
  /** Calls per second on average. Zero means no limit. */
  perSecond: number
  /** Bucket size: calls allowed at once after a pause. Defaults to `perSecond`. */
  burst?: number
  /** How many keys are tracked. */
  keysMax?: number
  /** The error message for a caller that exceeds the limit. */
  message?: string
}

export type Bucket = { tokens: number; filledAt: number }

/** Takes a token and returns 0, or returns the seconds until there is one. */
export function takeToken(
  bucket: Bucket,
  nowMs: number,
  { perSecond, burst }: { perSecond: number; burst: number },
): number {
  bucket.tokens = Math.min(burst, bucket.tokens + ((nowMs - bucket.filledAt) / 1000) * perSecond)
  bucket.filledAt = nowMs
  if (bucket.tokens < 1) return (1 - bucket.tokens) / perSecond
  bucket.tokens -= 1
  return 0
}

/** What a key may still call: `remaining` calls now, and all of its calls again in `resetSeconds`. */
export type RateLimitState = { remaining: number; resetSeconds: number }

/**
 * A token bucket per key. The number of keys is bounded: when it is reached, the least recently used key is evicted and
 * starts again with a full bucket. Other keys are not affected.
 */
export class RateLimit {
  readonly #perSecond: number
  readonly #burst: number
  readonly #keysMax: number
  readonly #message: string
  /** Ordered by their last use. */
  readonly #buckets = new Map<string, Bucket>()

  constructor({
    perSecond,
    burst = perSecond,
    keysMax = keysMaxDefault,
    message = 'Too many requests. Slow down and try again.',
  }: RateLimitOptions) {
    this.#perSecond = perSecond
    this.#burst = Math.max(1, burst)
    this.#keysMax = keysMax
    this.#message = message
  }

  /** Throws `Refusal` with the time to wait if the key has used up its calls. */
  take(key: string, nowMs = performance.now()): void {
    const waitSeconds = this.#take(key, nowMs)
    if (waitSeconds > 0)
      throw new Refusal('rate_limited', this.#message, { retryAfterSeconds: Math.max(1, waitSeconds) })
  }

  /** Returns false if the key has used up its calls. */
  allow(key: string, nowMs = performance.now()): boolean {
    return this.#take(key, nowMs) === 0
  }

  /** Takes back the last call of a key, which does not count after all. */
  giveBack(key: string): void {
    const bucket = this.#buckets.get(key)
    if (bucket) bucket.tokens = Math.min(this.#burst, bucket.tokens + 1)
  }

  /** The calls allowed within a number of seconds. Undefined without a limit. */
  get policy(): { quota: number; windowSeconds: number } | undefined {
    if (this.#perSecond === 0) return undefined
    return { quota: this.#burst, windowSeconds: Math.max(1, Math.round(this.#burst / this.#perSecond)) }
  }

  /** Returns the state of a key after its last call. */
  stateOf(key: string): RateLimitState {
    const tokens = this.#buckets.get(key)?.tokens ?? this.#burst
    return { remaining: Math.floor(tokens), resetSeconds: Math.ceil((this.#burst - tokens) / this.#perSecond) }
  }

  /** Returns the seconds until the next call is allowed. Setting back the wall clock has no effect. */
  #take(key: string, nowMs: number): number {
    if (this.#perSecond === 0) return 0
    const known = this.#buckets.get(key)
    if (known) this.#buckets.delete(key)
    else if (this.#buckets.size >= this.#keysMax) this.#buckets.delete(this.#buckets.keys().next().value!)
    const bucket = known ?? { tokens: this.#burst, filledAt: nowMs }
    this.#buckets.set(key, bucket)
    return takeToken(bucket, nowMs, { perSecond: this.#perSecond, burst: this.#burst })
  }
}
