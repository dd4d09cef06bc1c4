import { Batcher, type BatcherOptions } from '../../runtime/batcher.ts'
import { groupBy } from '../../values/group-by.ts'
import type { OrganizationId } from '../../values/ids.ts'
import { type Db, isConnectionFault, type Reader } from '../db.ts'
import { allValues } from '../rows.ts'
import { NodeLookup } from './nodes.ts'

type WithOrganization = { organizationId: OrganizationId }

/**
 * Runs `work` once for all items. On a distributed database, runs it for each organization, so that statements run on
 * one node and a node that is down affects only its own organizations: their items are passed to `onFault`, and the
 * results of the others are returned.
 */
export async function perOrganization<Item extends WithOrganization, Result>(
  db: Reader,
  items: readonly Item[],
  work: (items: readonly Item[]) => Promise<readonly Result[]>,
  onFault: (items: readonly Item[], error: unknown) => void,
): Promise<readonly Result[]> {
  if (!db.isDistributed) return work(items)
  const groups = groupBy(items, ({ organizationId }) => organizationId)
  const results = await Promise.allSettled(groups.map(([, group]) => work(group)))
  return results.flatMap((result, index) => {
    if (result.status === 'fulfilled') return result.value
    if (!isConnectionFault(result.reason)) throw result.reason
    onFault(groups[index]![1], result.reason)
    return []
  })
}

/** Runs `work` once for all items. On a distributed database, runs it for one organization after the other. */
export async function inTurn<Item extends WithOrganization>(
  tx: Reader,
  items: readonly Item[],
  work: (items: readonly Item[]) => Promise<void>,
): Promise<void> {
  if (!tx.isDistributed) return work(items)
  const groups = groupBy(items, ({ organizationId }) => organizationId)
  for (const [, group] of groups.sort(([a], [b]) => (a < b ? -1 : 1))) await work(group)
}

/**
 * Returns the organizations that maintenance has to visit one by one: all of a distributed database. Returns `undefined` as
 * the only element if one statement serves all of them.
 */
export async function organizationsToVisit(db: Reader): Promise<(OrganizationId | undefined)[]> {
  if (!db.isDistributed) return [undefined]
  return selectOrganizationIds(db)
}

export const selectOrganizationIds = (db: Reader) =>
  allValues(db<{ id: OrganizationId }>`select id from organizations order by id`)

export type ItemBatcher<Item, Result> = Pick<Batcher<Item, Result>, 'add' | 'drained'>

/**
 * Returns a batcher. On a distributed database, the items of each organization form batches of their own, which neither
 * wait for nor fail with those of other organizations.
 */
export function createBatcher<Item, Result>(
  db: Db,
  options: BatcherOptions<Item, Result>,
  organizationOf: (item: Item) => OrganizationId,
): ItemBatcher<Item, Result> {
  return db.isDistributed ? new KeyedBatchers(options, organizationOf) : new Batcher(options)
}

/**
 * Returns a batcher. On a distributed database, the organizations of each node form batches of their own: a transaction
 * then writes to one node, and a node that is down affects only its own organizations.
 */
export function createNodeBatcher<Item, Result>(
  db: Db,
  options: BatcherOptions<Item, Result>,
  organizationOf: (item: Item) => OrganizationId,
): ItemBatcher<Item, Result> {
  if (!db.isDistributed) return new Batcher(options)
  const nodes = new NodeLookup(db)
  return new KeyedBatchers(options, (item) => nodes.find(organizationOf(item)))
}

/** Above this, idle batchers are removed. */
const batchersMax = 1_000

class KeyedBatchers<Key extends string | number, Item, Result> implements ItemBatcher<Item, Result> {
  readonly #options: BatcherOptions<Item, Result>
  readonly #keyOf: (item: Item) => Key | Promise<Key>
  readonly #batchers = new Map<Key, Batcher<Item, Result>>()
  /** Items whose key is being looked up. */
  readonly #waiting = new Set<Promise<unknown>>()

  constructor(options: BatcherOptions<Item, Result>, keyOf: (item: Item) => Key | Promise<Key>) {
    this.#options = options
    this.#keyOf = keyOf
  }

  add(item: Item): Promise<Result> {
    const key = this.#keyOf(item)
    if (!(key instanceof Promise)) return this.#addTo(key, item)
    // In an object, since the item waits here only until it is added.
    const located = key.then((found) => ({ result: this.#addTo(found, item) }))
    this.#waiting.add(located)
    return located.finally(() => this.#waiting.delete(located)).then(({ result }) => result)
  }

  #addTo(key: Key, item: Item): Promise<Result> {
    let batcher = this.#batchers.get(key)
    if (!batcher) {
      if (this.#batchers.size >= batchersMax) this.#removeIdle()
      batcher = new Batcher(this.#options)
      this.#batchers.set(key, batcher)
    }
    return batcher.add(item)
  }

  #removeIdle(): void {
    for (const [key, batcher] of this.#batchers) if (batcher.isIdle) this.#batchers.delete(key)
  }

  async drained(): Promise<void> {
    while (this.#waiting.size > 0) await Promise.allSettled(this.#waiting)
    await Promise.all([...this.#batchers.values()].map((batcher) => batcher.drained()))
  }
}
