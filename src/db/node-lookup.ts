import { LRUCache } from 'lru-cache'
import { Batcher } from '../runtime/batcher.ts'
import type { OrganizationId } from '../values/ids.ts'
import { findNodesOf } from './cluster-nodes.ts'
import type { Reader } from './db.ts'

/**
 * Organizations are rarely moved to another node. While a process does not know it, its transactions may span two nodes,
 * which is slower but right.
 */
const rememberMs = 60_000
const organizationsMax = 50_000
const lookupMax = 1_000
const waitingMax = 20_000

/** Finds the nodes of organizations, many with one statement, and remembers them. */
export class NodeLookup {
  readonly #known = new LRUCache<OrganizationId, number>({ max: organizationsMax, ttl: rememberMs })
  readonly #lookups: Batcher<OrganizationId, number>

  constructor(db: Reader) {
    this.#lookups = new Batcher({
      name: 'find nodes',
      itemsMax: lookupMax,
      waitingMax,
      run: async (ids) => {
        const nodes = await findNodesOf(db, [...new Set(ids)])
        for (const [id, node] of nodes) this.#known.set(id, node)
        return ids.map((id) => ({ ok: true, value: nodes.get(id)! }))
      },
    })
  }

  find(organizationId: OrganizationId): number | Promise<number> {
    return this.#known.get(organizationId) ?? this.#lookups.add(organizationId)
  }
}
