import type { Batcher } from '../../runtime/batcher.ts'
import { createCache } from '../../runtime/cache.ts'
import type { StageRegistry } from '../../runtime/stage-registry.ts'
import type { OrganizationId } from '../../values/ids.ts'
import type { Reader } from '../db.ts'

export type ClusterNode = { name: string; isUp: boolean }

/** Returns the nodes and whether the coordinator can connect to them; none if the database is not distributed. */
export async function checkNodes(db: Reader): Promise<ClusterNode[]> {
  if (!db.isDistributed) return []
  return db<ClusterNode>`
    select nodename || ':' || nodeport as name, coalesce(citus_check_connection_to_node(nodename, nodeport), false) as is_up
    from pg_dist_node
    where noderole = 'primary' and isactive and groupid <> 0
    order by nodeid`
}

export type OrganizationsOfNode = { node: number; ids: OrganizationId[] }

/** Returns the organizations of each node. Asks only the coordinator, so it also works while nodes are down. */
export const findOrganizationsByNode = (db: Reader) =>
  db<OrganizationsOfNode>`
    select groupid as node, array_agg(organizations.id) as ids
    from organizations
    join pg_dist_placement on shardid = get_shard_id_for_distribution_column('lanes', organizations.id)
    group by groupid`

/** Returns the node of each organization. Asks only the coordinator. */
export async function findNodesOf(db: Reader, ids: readonly OrganizationId[]): Promise<Map<OrganizationId, number>> {
  const rows = await db<{ id: OrganizationId; node: number }>`
    select organization.id, groupid as node
    from unnest(${ids}::uuid[]) as organization (id)
    join pg_dist_placement on shardid = get_shard_id_for_distribution_column('lanes', organization.id)`
  return new Map(rows.map(({ id, node }) => [id, node]))
}

/** Until a move of an organization to another node is noticed, transactions may span two nodes: slow, but correct. */
const rememberMs = 60_000
const organizationsMax = 50_000
const lookupMax = 1_000
const waitingMax = 20_000

/** Finds the nodes of organizations, many with one statement, and remembers them. */
export class NodeLookup {
  readonly #known = createCache<OrganizationId, number>(organizationsMax, { ttl: rememberMs })
  readonly #lookups: Batcher<OrganizationId, number>

  /** `use`: what it is for, as there are several in a process. */
  constructor(db: Reader, stages: StageRegistry, use: string) {
    this.#lookups = stages.batcher({
      name: `find nodes: ${use}`,
      organizationOf: (id) => id,
      itemsMax: lookupMax,
      waitingPerOrganization: waitingMax / 4,
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
