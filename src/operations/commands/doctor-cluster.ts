import { detectDistribution, findDistributedTables } from '../../platform/db/cluster/distribute.ts'
import { readDistributionPlan } from '../../platform/db/cluster/distribution-plan.ts'
import { checkNodes } from '../../platform/db/cluster/nodes.ts'
import type { Db } from '../../platform/db/db.ts'
import { bad, type Finding, good } from './finding.ts'

/**
 * Checks the nodes of a distributed database, and that all its tables are distributed. Returns the names of the nodes that are
 * down.
 */
export async function* checkCluster(db: Db): AsyncGenerator<Finding, string[]> {
  await detectDistribution(db)
  if (!db.isDistributed) return []
  const done = await findDistributedTables(db)
  const nodes = await checkNodes(db)
  const down = nodes.filter(({ isUp }) => !isUp).map(({ name }) => name)
  for (const name of down) yield bad('Cluster', `the node ${name} is down: its organizations cannot be served`)
  if (down.length === 0) yield good('Cluster', `${nodes.length} nodes respond`)
  const { tables } = await readDistributionPlan(db)
  const left = tables.filter(({ name, placement }) => placement !== 'local' && !done.has(name)).map(({ name }) => name)
  if (left.length > 0) yield bad('Cluster', `not distributed: ${left.join(', ')}. Run \`waxwing distribute\``)
  return down
}
