import { areEventsKept } from '../../events/events.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import type { BoundedWork } from '../../platform/db/bounded-work.ts'
import type { Db, Reader } from '../../platform/db/db.ts'
import { firstContactId, type IdRange, lastContactId } from '../../platform/db/id-range.ts'
import { createCache } from '../../platform/runtime/cache.ts'
import type { FailureLog } from '../../platform/runtime/failure-log.ts'
import type { BroadcastId, OrganizationId } from '../../platform/values/ids.ts'
import { type Broadcast, findBroadcast } from '../broadcasts.sql.ts'
import { forLedger, type LedgerParts } from '../ledger/ledger-slices.ts'
import type { LinkClicks } from './reactions.sql.ts'
import { addLinks, addReactions, type Links, noReactions, type Reactions, topLinks } from './reactions.ts'
import {
  type CountedResults,
  type ListedResults,
  type StoredResults,
  selectListed,
  selectResults,
  upsertResults,
} from './results.sql.ts'

/** Broadcasts up to this size are counted while the request waits, in a list as long as they have so many recipients together. */
const countedAtOnceMax = 2_000
const countedInListMax = 10_000
export const linksListedMax = 100
/** Results are current for five seconds, or for five times as long as it takes to count them. */
const currentMsMin = 5_000
const currentFactor = 5
/**
 * In a list, they are current for at least this share of the time since the start, so that the broadcasts of a page are not
 * counted again and again: most people open an email soon.
 */
const currentShareInList = 0.05
/** Broadcasts of an organization that wait for being counted: more than a page of a list has. */
const waitingMax = 200
const countMsMax = 120_000
/** How long after a failed count the next one is started. */
const pauseMs = 60_000
const failuresMax = 1_000

const wholeLedger: IdRange = { after: firstContactId, to: lastContactId }

/** `countedAt` is null before the start, and while the results are counted for the first time. */
export type Counted = Pick<StoredResults, 'reactions'> & { countedAt: Date | null }

const notCounted = (broadcast: Broadcast): Counted => ({ reactions: noReactions(broadcast), countedAt: null })

/** Whether its links can be counted: no event of the broadcast was deleted. */
const areLinksComplete = async (db: Reader, { startedAt }: Broadcast): Promise<boolean> =>
  startedAt === null || areEventsKept(db, startedAt)

/** Counts the results of a broadcast in slices. Returns undefined if the process is stopping. */
export async function countResults(parts: LedgerParts, broadcast: Broadcast): Promise<CountedResults | undefined> {
  const startedAt = performance.now()
  const reactions = noReactions(broadcast)
  const links: Links = new Map()
  const areCounted =
    (await forLedger(parts, broadcast, (tx, range) => addReactions(tx, broadcast, range, reactions))) &&
    (await forLedger(parts, broadcast, (tx, range) => addLinks(tx, broadcast, range, links)))
  if (!areCounted) return undefined
  // Asked last, because events may be deleted meanwhile.
  const isComplete = await parts.work(broadcast.organizationId, (tx) => areLinksComplete(tx, broadcast))
  const countMs = performance.now() - startedAt
  return {
    broadcastId: broadcast.id,
    countedAt: broadcast.now,
    countMs,
    reactions,
    links: isComplete ? topLinks(links, linksListedMax) : null,
  }
}

async function countAtOnce(db: Reader, broadcast: Broadcast): Promise<Reactions> {
  const reactions = noReactions(broadcast)
  await addReactions(db, broadcast, wholeLedger, reactions)
  return reactions
}

/** Returns undefined if they cannot be counted any more. */
async function countLinksAtOnce(db: Reader, broadcast: Broadcast): Promise<LinkClicks[] | undefined> {
  const links: Links = new Map()
  await addLinks(db, broadcast, wholeLedger, links)
  return (await areLinksComplete(db, broadcast)) ? topLinks(links, linksListedMax) : undefined
}

const isSmall = ({ recipients }: Broadcast) => (recipients ?? 0) <= countedAtOnceMax

/** Whether stored results need not be counted again. */
const isCurrent = ({ now }: Broadcast, stored: ListedResults | undefined, currentMs = currentMsMin) =>
  stored !== undefined && +now - +stored.countedAt < Math.max(currentMs, currentFactor * stored.countMs)

const currentMsInList = ({ now, startedAt }: Broadcast) =>
  Math.max(currentMsMin, (+now - +(startedAt ?? now)) * currentShareInList)

/** The broadcasts of an organization that are counted one after another. */
type Queue = { inProgress: BroadcastId; waiting: BroadcastId[]; ended: Promise<void> }

type Parts = { db: Db; read: BoundedRead; work: BoundedWork; failures: FailureLog }

/** The work whose failures are logged. */
export const countWork = 'count of results of broadcasts'

/**
 * The results of broadcasts. Those of large ones take seconds to count: requests get the stored ones, and have them counted
 * again in the background, one broadcast of an organization at a time, however many pages are open.
 */
export class BroadcastResults {
  readonly #parts: Parts
  readonly #queues = new Map<OrganizationId, Queue>()
  readonly #failedAt = createCache<BroadcastId, number>(failuresMax, { ttl: pauseMs })
  #isStopping = false

  constructor(parts: Parts) {
    this.#parts = parts
  }

  async get(broadcast: Broadcast): Promise<Counted> {
    if (broadcast.startedAt === null) return notCounted(broadcast)
    if (isSmall(broadcast)) {
      const reactions = await this.#parts.read(broadcast.organizationId, (db) => countAtOnce(db, broadcast))
      return { reactions, countedAt: broadcast.now }
    }
    return (await this.#stored(broadcast)) ?? notCounted(broadcast)
  }

  /** The links that were clicked most often, as they were counted last. */
  async links(broadcast: Broadcast): Promise<LinkClicks[]> {
    const { read } = this.#parts
    const counted = isSmall(broadcast)
      ? await read(broadcast.organizationId, (db) => countLinksAtOnce(db, broadcast))
      : undefined
    return counted ?? (await this.#stored(broadcast))?.links ?? []
  }

  /** Returns false if events of the broadcast were deleted, so that clicks may be missing from its links. */
  areLinksComplete(broadcast: Broadcast): Promise<boolean> {
    return this.#parts.read(broadcast.organizationId, (db) => areLinksComplete(db, broadcast))
  }

  /** Returns the results of several broadcasts of an organization, in their order. The first small ones are counted. */
  async list(organizationId: OrganizationId, broadcasts: readonly Broadcast[]): Promise<Counted[]> {
    const started = broadcasts.filter(({ startedAt }) => startedAt !== null)
    if (started.length === 0) return broadcasts.map(notCounted)
    const ids = started.map(({ id }) => id)
    const rows = await this.#parts.read(organizationId, (db) => selectListed(db, organizationId, ids))
    const stored = new Map(rows.map((row) => [row.broadcastId, row]))
    for (const each of started)
      if (!isCurrent(each, stored.get(each.id), currentMsInList(each))) this.#countInBackground(each, 'last')
    const counted: Counted[] = []
    let room = countedInListMax
    for (const broadcast of broadcasts) {
      const size = broadcast.recipients ?? 0
      const isCounted = isSmall(broadcast) && size <= room
      if (isCounted) room -= size
      counted.push(isCounted ? await this.get(broadcast) : (stored.get(broadcast.id) ?? notCounted(broadcast)))
    }
    return counted
  }

  /** Waits for counts in progress, which end with their slice. */
  async stop(): Promise<void> {
    this.#isStopping = true
    await Promise.all([...this.#queues.values()].map(({ ended }) => ended))
  }

  async #stored(broadcast: Broadcast): Promise<StoredResults | undefined> {
    const { organizationId, id } = broadcast
    const [stored] = await this.#parts.read(organizationId, (db) => selectResults(db, organizationId, id))
    if (!isCurrent(broadcast, stored)) this.#countInBackground(broadcast, 'next')
    return stored
  }

  /** A count that fails is repeated by a later request. */
  #countInBackground({ organizationId, id }: Broadcast, place: 'next' | 'last'): void {
    if (this.#isStopping || this.#failedAt.has(id)) return
    const queue = this.#queues.get(organizationId)
    if (!queue) {
      const added: Queue = { inProgress: id, waiting: [], ended: Promise.resolve() }
      this.#queues.set(organizationId, added)
      added.ended = this.#countQueue(organizationId, added)
      return
    }
    if (queue.inProgress === id) return
    const others = queue.waiting.filter((each) => each !== id)
    if (place === 'next') queue.waiting = [id, ...others].slice(0, waitingMax)
    else if (others.length === queue.waiting.length && others.length < waitingMax) queue.waiting.push(id)
  }

  async #countQueue(organizationId: OrganizationId, queue: Queue): Promise<void> {
    const { failures } = this.#parts
    for (let id: BroadcastId | undefined = queue.inProgress; id && !this.#isStopping; id = queue.waiting.shift()) {
      queue.inProgress = id
      await this.#count(organizationId, id).then(
        () => failures.succeeded(countWork),
        (error) => {
          failures.failed(countWork, error)
          this.#failedAt.set(queue.inProgress, performance.now())
        },
      )
    }
    this.#queues.delete(organizationId)
  }

  async #count(organizationId: OrganizationId, id: BroadcastId): Promise<void> {
    const { db, work } = this.#parts
    // It may have waited: the time of the count is that of its beginning.
    const broadcast = await findBroadcast(db, organizationId, id)
    if (!broadcast) return
    const until = performance.now() + countMsMax
    const isOver = () => performance.now() > until
    const results = await countResults({ work, isStopping: () => this.#isStopping || isOver() }, broadcast)
    if (results) await upsertResults(db.statement, broadcast.organizationId, results)
    else if (isOver()) throw new Error('Counting the results took too long')
  }
}
