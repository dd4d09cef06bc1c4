import { LRUCache } from 'lru-cache'
import type { Reader } from '../db/db.ts'
import type { BroadcastId } from '../values/ids.ts'
import type { Broadcast } from './broadcasts.sql.ts'
import { countResults, type Results } from './results.sql.ts'
import { countVariants, type VariantResults } from './variants.sql.ts'

/** Smaller broadcasts are counted in a few milliseconds. */
const countedAtOnceMax = 10_000
const rememberedMs = 5_000
const broadcastsMax = 1_000

export type AllResults = { results: Results; variants: VariantResults[] }

async function countAll(db: Reader, broadcast: Broadcast): Promise<AllResults> {
  return { results: await countResults(db, broadcast), variants: await countVariants(db, broadcast) }
}

/**
 * Counts the results of broadcasts. Counting those of a million recipients takes a second, and every open page of the
 * broadcast requests them every few seconds: they are counted once in five seconds, however many pages are open.
 */
export class ResultsCounter {
  readonly #remembered: LRUCache<BroadcastId, { counted: Promise<AllResults> }>
  readonly #count: typeof countAll

  constructor(count = countAll, clock: { now(): number } = performance) {
    this.#remembered = new LRUCache({ max: broadcastsMax, ttl: rememberedMs, ttlResolution: 0, perf: clock })
    this.#count = count
  }

  count(db: Reader, broadcast: Broadcast): Promise<AllResults> {
    if ((broadcast.recipients ?? 0) <= countedAtOnceMax) return this.#count(db, broadcast)
    const known = this.#remembered.get(broadcast.id)
    if (known) return known.counted
    const entry = { counted: this.#count(db, broadcast) }
    this.#remembered.set(broadcast.id, entry)
    entry.counted.catch(() => {
      if (this.#remembered.peek(broadcast.id) === entry) this.#remembered.delete(broadcast.id)
    })
    return entry.counted
  }
}
