import { Batcher, type BatcherOptions, batchLimits } from '../../runtime/batcher.ts'
import type { Stage } from '../../runtime/stage.ts'
import type { StageRegistry } from '../../runtime/stage-registry.ts'
import type { StageState } from '../../runtime/stage-state.ts'
import { groupBy } from '../../values/group-by.ts'
import type { OrganizationId } from '../../values/ids.ts'
import { type Db, isConnectionFault, type Reader } from '../db.ts'
import { allValues } from '../rows.ts'
import { findNodesOf, NodeLookup } from './nodes.ts'

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
  return inGroups(groups, work, onFault)
}

/**
 * Like `perOrganization`, but runs `work` for all organizations of a node at once: for statements that may be sent to several
 * shards.
 */
export async function perNode<Item extends WithOrganization, Result>(
  db: Reader,
  items: readonly Item[],
  work: (items: readonly Item[]) => Promise<readonly Result[]>,
  onFault: (items: readonly Item[], error: unknown) => void,
): Promise<readonly Result[]> {
  if (!db.isDistributed) return work(items)
  const nodes = await findNodesOf(db, [...new Set(items.map(({ organizationId }) => organizationId))])
  const groups = groupBy(items, ({ organizationId }) => nodes.get(organizationId)!)
  return inGroups(groups, work, onFault)
}

async function inGroups<Item, Result>(
  groups: readonly (readonly [unknown, readonly Item[]])[],
  work: (items: readonly Item[]) => Promise<readonly Result[]>,
  onFault: (items: readonly Item[], error: unknown) => void,
): Promise<readonly Result[]> {
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

/** In a batch of the database, the share is always that of an organization. */
export type DbBatcherOptions<Item, Result> = Omit<BatcherOptions<Item, Result>, 'organizationOf'> & {
  organizationOf: (item: Item) => OrganizationId
}

/**
 * Returns a batcher. On a distributed database, the items of each organization form batches of their own, which neither
 * wait for nor fail with those of other organizations.
 */
export function createBatcher<Item, Result>(
  db: Db,
  stages: StageRegistry,
  options: DbBatcherOptions<Item, Result>,
): ItemBatcher<Item, Result> {
  return db.isDistributed ? keyed(stages, options, options.organizationOf) : stages.batcher(options)
}

/**
 * Returns a batcher. On a distributed database, the organizations of each node form batches of their own: a transaction
 * then writes to one node, and a node that is down affects only its own organizations.
 */
export function createNodeBatcher<Item, Result>(
  db: Db,
  stages: StageRegistry,
  options: DbBatcherOptions<Item, Result>,
): ItemBatcher<Item, Result> {
  if (!db.isDistributed) return stages.batcher(options)
  const nodes = new NodeLookup(db, stages, options.name)
  return keyed(stages, options, (item: Item) => nodes.find(options.organizationOf(item)))
}

const keyed = <Key extends string | number, Item, Result>(
  stages: StageRegistry,
  options: BatcherOptions<Item, Result>,
  keyOf: (item: Item) => Key | Promise<Key>,
) => stages.add(options.name, new KeyedBatchers(options, stages.heavyOf(options), keyOf))

/** Above this, idle batchers are removed. */
const batchersMax = 1_000

class KeyedBatchers<Key extends string | number, Item, Result> implements ItemBatcher<Item, Result>, StageState {
  readonly #options: BatcherOptions<Item, Result>
  readonly #heavy: Stage | undefined
  readonly #keyOf: (item: Item) => Key | Promise<Key>
  readonly #batchers = new Map<Key, Batcher<Item, Result>>()
  /** Items whose key is being looked up. */
  readonly #waiting = new Set<Promise<unknown>>()

  constructor(
    options: BatcherOptions<Item, Result>,
    heavy: Stage | undefined,
    keyOf: (item: Item) => Key | Promise<Key>,
  ) {
    this.#options = options
    this.#heavy = heavy
    this.#keyOf = keyOf
  }

  get limits() {
    return batchLimits(this.#options)
  }

  get used(): number {
    return this.#sum(({ used }) => used)
  }

  get waiting(): number {
    return this.#waiting.size + this.#sum(({ waiting }) => waiting)
  }

  #sum(count: (batcher: Batcher<Item, Result>) => number): number {
    let sum = 0
    for (const batcher of this.#batchers.values()) sum += count(batcher)
    return sum
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
      batcher = new Batcher(this.#options, this.#heavy)
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
