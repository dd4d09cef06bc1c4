import type { OrganizationId } from '../values/ids.ts'
import type { Reader } from './db.ts'

export type ClusterNode = { name: string; isUp: boolean }

/** Returns the nodes of a Citus cluster and whether the coordinator can connect to them. */
export async function checkNodes(db: Reader): Promise<ClusterNode[]> {
  return db<ClusterNode>`
    select nodename || ':' || nodeport as name, coalesce(citus_check_connection_to_node(nodename, nodeport), false) as is_up
    from pg_dist_node
    where noderole = 'primary' and isactive and groupid <> 0
    order by nodeid`
}

/** Returns the organizations of each node. Asks only the coordinator, so it also works while nodes are down. */
export async function findOrganizationsByNode(db: Reader): Promise<OrganizationId[][]> {
  const rows = await db<{ ids: OrganizationId[] }>`
    select array_agg(organizations.id) as ids
    from organizations
    join pg_dist_placement on shardid = get_shard_id_for_distribution_column('lanes', organizations.id)
    group by groupid`
  return rows.map(({ ids }) => ids)
}

/** Returns the node of each organization. Asks only the coordinator. */
export async function findNodesOf(db: Reader, ids: readonly OrganizationId[]): Promise<Map<OrganizationId, number>> {
  const rows = await db<{ id: OrganizationId; node: number }>`
    select organization.id, groupid as node
    from unnest(${ids}::uuid[]) as organization (id)
    join pg_dist_placement on shardid = get_shard_id_for_distribution_column('lanes', organization.id)`
  return new Map(rows.map(({ id, node }) => [id, node]))
}
