import { addPendingCounts } from '../../events/events.ts'
import { checkCoordinator, distribute, findDistributedTables } from '../../platform/db/cluster/distribute.ts'
import {
  type DistributionPlan,
  type Placement,
  readDistributionPlan,
} from '../../platform/db/cluster/distribution-plan.ts'
import { isMigrated } from '../../platform/db/migrate.ts'
import { SetupFault } from '../../platform/values/errors.ts'
import { type Call, note } from './call.ts'
import { printResult, withDatabase } from './database.ts'

const descriptions: [Placement, string][] = [
  ['distributed', 'Distributed by organization_id, all rows of an organization on one node'],
  ['reference', 'Copied to every node'],
  ['local', 'Kept on the coordinator'],
]

/** Distributes the tables over the nodes of a Citus cluster. Without --yes, only prints what would be done. */
export async function distributeTables(call: Call): Promise<number> {
  return withDatabase(call, { applicationName: 'waxwing distribute', migrates: false }, async (database) => {
    const { db } = database
    const { nodes } = await checkCoordinator(db)
    if (!(await isMigrated(db).catch(() => false)))
      throw new SetupFault('The database is not migrated. Run `waxwing migrate` first.')
    const plan = await readDistributionPlan(db)
    const done = await findDistributedTables(db)
    printResult(database, describe(plan, done, nodes))
    const left = plan.tables.filter(({ name, placement }) => placement !== 'local' && !done.has(name))
    if (left.length === 0) {
      // Removes rows that an interrupted run has left on the coordinator.
      if (call.flags.yes === true) await distribute(db)
      note('All tables are distributed already.')
      return 0
    }
    if (call.flags.yes !== true) {
      note('Nothing was changed. Stop all processes of Waxwing, make a backup, and run this command with --yes.')
      return 1
    }
    // Those of a process that was killed. On a distributed database there are none.
    if (done.size === 0) await addPendingCounts(db)
    let started = 0
    const added = await distribute(db, (tables) => {
      started += tables.length
      note(`[${started}/${left.length}] ${tables.join(', ')}`)
    })
    note(`Distributed ${added.length} tables over ${nodes.length} ${nodes.length === 1 ? 'node' : 'nodes'}.`)
    return 0
  })
}

function describe(plan: DistributionPlan, done: ReadonlySet<string>, nodes: readonly string[]): string {
  const sections = descriptions.map(([placement, description]) => {
    const names = plan.tables
      .filter((table) => table.placement === placement)
      .map(({ name }) => `  ${name}${done.has(name) ? ' (done)' : ''}`)
    return [`${description}:`, ...names].join('\n')
  })
  return [`Nodes: ${nodes.join(', ')}`, ...sections].join('\n\n')
}
