import { LRUCache } from 'lru-cache'
import type { BoundedRead } from '../db/bounded-read.ts'
import type { BoundedWork } from '../db/bounded-work.ts'
import type { Db, Reader } from '../db/db.ts'
import { firstContactId, type IdRange, lastContactId } from '../segments/id-range.ts'
import type { BroadcastId, OrganizationId } from '../values/ids.ts'
import type { Broadcast } from './broadcasts.sql.ts'
import { forLedger, type LedgerParts } from './ledger-slices.ts'
import type { LinkClicks } from './reactions.sql.ts'
import { addLinks, addReactions, type Links, noReactions, type Reactions, topLinks } from './reactions.ts'
import { type StoredResults, selectResults, upsertResults } from './results.sql.ts'

/** Broadcasts up to this size are counted while the request waits. */
const countedAtOnceMax = 2_000
export const linksListedMax = 100
/** Results are current for five seconds, or for five times as long as it takes to count them. */
const currentMsMin = 5_000
const currentFactor = 5
/** How long a request waits for the results of several broadcasts. */
const listWaitMsMax = 150
const countMsMax = 120_000
/** How long after a failed count the next one is started. */
const pauseMs = 60_000
const failuresMax = 1_000

const wholeLedger: IdRange = { after: firstContactId, to: lastContactId }

/** `countedAt` is null before the start, and while the results are counted for the first time. */
export type Counted = Pick<StoredResults, 'reactions'> & { countedAt: Date | null }

/** Counts the results of a broadcast in slices. Returns undefined if the process is stopping. */
export async function countResults(parts: LedgerParts, broadcast: Broadcast): Promise<StoredResults | undefined> {
  const startedAt = performance.now()
  const reactions = noReactions(broadcast)
  const links: Links = new Map()
  const areCounted =
    (await forLedger(parts, broadcast, (tx, range) => addReactions(tx, broadcast, range, reactions))) &&
    (await forLedger(parts, broadcast, (tx, range) => addLinks(tx, broadcast, range, links)))
  if (!areCounted) return undefined
  const countMs = performance.now() - startedAt
  return {
    broadcastId: broadcast.id,
    countedAt: broadcast.now,
    countMs,
    reactions,
    links: topLinks(links, linksListedMax),
  }
}

async function countAtOnce(db: Reader, broadcast: Broadcast): Promise<Reactions> {
  const reactions = noReactions(broadcast)
  await addReactions(db, broadcast, wholeLedger, reactions)
  return reactions
}

async function countLinksAtOnce(db: Reader, broadcast: Broadcast): Promise<LinkClicks[]> {
  const links: Links = new Map()
  await addLinks(db, broadcast, wholeLedger, links)
  return topLinks(links, linksListedMax)
}

const isSmall = ({ recipients }: Broadcast) => (recipients ?? 0) <= countedAtOnceMax

/** Whether stored results need not be counted again. */
const isCurrent = ({ now }: Broadcast, stored: StoredResults | undefined) =>
  stored !== undefined && +now - +stored.countedAt < Math.max(currentMsMin, currentFactor * stored.countMs)

type Parts = { db: Db; read: BoundedRead; work: BoundedWork }

/**
 * The results of broadcasts. Those of large ones take seconds to count: requests get the stored ones, and have them counted
 * again in the background, one broadcast of an organization at a time, however many pages are open.
 */
export class BroadcastResults {
  readonly #parts: Parts
  readonly #counting = new Map<OrganizationId, Promise<void>>()
  readonly #failedAt = new LRUCache<BroadcastId, number>({ max: failuresMax, ttl: pauseMs })
  #isStopping = false

  constructor(parts: Parts) {
    this.#parts = parts
  }

  async get(broadcast: Broadcast): Promise<Counted> {
    if (broadcast.startedAt === null) return { reactions: noReactions(broadcast), countedAt: null }
    if (isSmall(broadcast)) {
      const reactions = await this.#parts.read(broadcast.organizationId, (db) => countAtOnce(db, broadcast))
      return { reactions, countedAt: broadcast.now }
    }
    return this.#latest(broadcast)
  }

  /** The links that were clicked most often. */
  async links(broadcast: Broadcast): Promise<LinkClicks[]> {
    if (isSmall(broadcast)) return this.#parts.read(broadcast.organizationId, (db) => countLinksAtOnce(db, broadcast))
    return (await this.#stored(broadcast))?.links ?? []
  }

  /** Returns the results of several broadcasts, in their order. Small ones are counted as long as the request can wait. */
  async list(broadcasts: readonly Broadcast[]): Promise<Counted[]> {
    const until = performance.now() + listWaitMsMax
    const counted: Counted[] = []
    for (const broadcast of broadcasts)
      counted.push(performance.now() < until ? await this.get(broadcast) : await this.#latest(broadcast))
    return counted
  }

  /** Waits for counts in progress, which end with their slice. */
  async stop(): Promise<void> {
    this.#isStopping = true
    await Promise.all(this.#counting.values())
  }

  async #latest(broadcast: Broadcast): Promise<Counted> {
    return (await this.#stored(broadcast)) ?? { reactions: noReactions(broadcast), countedAt: null }
  }

  async #stored(broadcast: Broadcast): Promise<StoredResults | undefined> {
    const { organizationId, id } = broadcast
    const [stored] = await this.#parts.read(organizationId, (db) => selectResults(db, organizationId, [id]))
    if (!isCurrent(broadcast, stored)) this.#countInBackground(broadcast)
    return stored
  }

  /** A count that fails is repeated by a later request. */
  #countInBackground(broadcast: Broadcast): void {
    const { organizationId, id } = broadcast
    if (this.#isStopping || this.#counting.has(organizationId) || this.#failedAt.has(id)) return
    const counting = this.#countAll(broadcast)
      .catch(() => void this.#failedAt.set(id, performance.now()))
      .finally(() => this.#counting.delete(organizationId))
    this.#counting.set(organizationId, counting)
  }

  async #countAll(broadcast: Broadcast): Promise<void> {
    const { db, work } = this.#parts
    const until = performance.now() + countMsMax
    const isOver = () => performance.now() > until
    const results = await countResults({ work, isStopping: () => this.#isStopping || isOver() }, broadcast)
    if (results) await upsertResults(db.statement, broadcast.organizationId, results)
    else if (isOver()) throw new Error('Counting the results took too long')
  }
}
