import { LRUCache } from 'lru-cache'
import type { Reader } from '../db/db.ts'
import type { BroadcastId } from '../values/ids.ts'
import type { Broadcast } from './broadcasts.sql.ts'
import { countResults, type Results } from './results.sql.ts'
import { countVariants, type VariantResults } from './variants.sql.ts'

/** Smaller broadcasts are counted in a few milliseconds. */
const countedAtOnceMax = 10_000
const rememberedMs = 5_000
/** Older results are not shown while they are counted again. */
const shownMsMax = 60_000
const broadcastsMax = 1_000

export type AllResults = { results: Results; variants: VariantResults[] }

async function countAll(db: Reader, broadcast: Broadcast): Promise<AllResults> {
  return { results: await countResults(db, broadcast), variants: await countVariants(db, broadcast) }
}

type Entry = { latest?: { results: AllResults; at: number }; running?: Promise<AllResults> | undefined }
/** Runs a statement on a connection that it releases afterwards. */
type Read = (run: (db: Reader) => Promise<AllResults>) => Promise<AllResults>

/**
 * Counts the results of broadcasts. Counting those of a million recipients takes a second, and every open page of the
 * broadcast requests them every few seconds: they are counted once in five seconds, however many pages are open, and
 * nobody waits for it while results of the last minute are known.
 */
export class ResultsCounter {
  readonly #entries = new LRUCache<BroadcastId, Entry>({ max: broadcastsMax })
  readonly #count: typeof countAll
  readonly #clock: { now(): number }

  constructor(count = countAll, clock: { now(): number } = performance) {
    this.#count = count
    this.#clock = clock
  }

  async count(read: Read, broadcast: Broadcast): Promise<AllResults> {
    if ((broadcast.recipients ?? 0) <= countedAtOnceMax) return read((db) => this.#count(db, broadcast))
    const entry = this.#entries.get(broadcast.id) ?? {}
    this.#entries.set(broadcast.id, entry)
    const ageMs = entry.latest ? this.#clock.now() - entry.latest.at : Number.POSITIVE_INFINITY
    if (ageMs > rememberedMs) entry.running ??= this.#recount(read, broadcast, entry)
    if (!entry.latest || ageMs > shownMsMax) return entry.running!
    // A failed count is repeated by the next request.
    entry.running?.catch(() => {})
    return entry.latest.results
  }

  async #recount(read: Read, broadcast: Broadcast, entry: Entry): Promise<AllResults> {
    try {
      const results = await read((db) => this.#count(db, broadcast))
      entry.latest = { results, at: this.#clock.now() }
      return results
    } finally {
      entry.running = undefined
    }
  }
}
