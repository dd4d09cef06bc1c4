import { SetupFault } from '../../values/errors.ts'
import type { Db, Reader, Tx } from '../db.ts'
import { withMigrationLock } from '../migration-lock.ts'
import { onlyValue } from '../rows.ts'
import { distributionSteps, readDistributionPlan, stepStatements } from './distribution-plan.ts'

/** Copying the rows of a large table exceeds the usual statement timeout. */
const unlimited = { unlimited: true }

/** Returns false without asking further if the server does not have the extension. */
export const hasCitus = (db: Reader) =>
  onlyValue(db<{ exists: boolean }>`select exists (select from pg_extension where extname = 'citus')`)

/** Returns the tables that Citus distributes or copies to all nodes; none without the extension. */
export async function findDistributedTables(db: Reader): Promise<Set<string>> {
  if (!(await hasCitus(db))) return new Set()
  // Local tables with a foreign key to a reference table are registered as well, without a distribution column.
  const rows = await db<{ name: string }>`
    select logicalrelid::regclass::text as name from pg_dist_partition where partmethod <> 'n' or repmodel = 't'`
  return new Set(rows.map(({ name }) => name))
}

/** Sets `db.isDistributed`. */
export async function detectDistribution(db: Db): Promise<void> {
  db.isDistributed = (await findDistributedTables(db.directDb ?? db)).size > 0
}

/** Throws `SetupFault` if tables cannot be distributed from this server. */
export async function checkCoordinator(db: Reader): Promise<{ nodes: string[] }> {
  if (!(await hasCitus(db)))
    throw new SetupFault(
      'The database does not have the extension citus. Install Citus, run “create extension citus” in this database on every node, and add the nodes with citus_add_node().',
    )
  const [local] = await db<{ isCoordinator: boolean }>`select groupid = 0 as is_coordinator from pg_dist_local_group`
  if (!local!.isCoordinator)
    throw new SetupFault('DATABASE_URL is the address of a worker node of Citus. Set it to that of the coordinator.')
  const nodes = await db<{ name: string }>`
    select nodename || ':' || nodeport as name from pg_dist_node
    where noderole = 'primary' and isactive and shouldhaveshards
    order by nodeid`
  if (nodes.length === 0)
    throw new SetupFault(
      'The coordinator has no nodes that tables could be distributed to. Add them with citus_add_node().',
    )
  const [coordinator] = await db<{ isKnown: boolean }>`
    select exists (select from pg_dist_node where groupid = 0) as is_known`
  if (!coordinator!.isKnown)
    throw new SetupFault(
      'The coordinator does not know its own address, which local tables need. Set it with citus_set_coordinator_host().',
    )
  return { nodes: nodes.map(({ name }) => name) }
}

type Progress = (tables: readonly string[]) => void

/**
 * Distributes the tables that are not distributed yet, with their rows, and returns their names. Each step is a
 * transaction, so that a run that was interrupted is continued by the next. Waits while another process migrates or
 * distributes.
 */
export async function distribute(db: Db, progress: Progress = () => {}): Promise<string[]> {
  const direct = db.directDb ?? db
  return withMigrationLock(direct, () => distributeRest(direct, progress))
}

async function distributeRest(db: Db, progress: Progress): Promise<string[]> {
  const plan = await readDistributionPlan(db)
  const done = await findDistributedTables(db)
  const placements = new Map(plan.tables.map(({ name, placement }) => [name, placement]))
  const colocated = () => [...done].find((name) => placements.get(name) === 'distributed')
  const added: string[] = []
  for (const step of distributionSteps(plan, done)) {
    const statements = stepStatements(step, { done, colocatedWith: colocated() })
    const left = step.tables.filter((name) => !done.has(name))
    progress(left)
    await db.begin((tx) => runSequentially(tx, statements), unlimited)
    for (const name of left) done.add(name)
    added.push(...left)
  }
  const copied = await findCopiedTables(db)
  if (copied.length > 0) await db.begin((tx) => removeLocalRows(tx, copied), unlimited)
  return added
}

/** Changes all shards of a node through one connection, as foreign keys to reference tables require. */
export async function runSequentially(tx: Tx, statements: readonly string[]): Promise<void> {
  await tx.script("set local citus.multi_shard_modify_mode to 'sequential'")
  for (const statement of statements) await tx.script(statement)
}

/** Returns the tables whose rows the coordinator still has, also from a run that was interrupted. */
async function findCopiedTables(db: Reader): Promise<string[]> {
  const done = [...(await findDistributedTables(db))]
  const rows = await db<{ name: string }>`
    select name from unnest(${done}::text[]) as name
    join pg_class on pg_class.oid = name::regclass and not relispartition
    where pg_relation_size(pg_class.oid) > 0
      or exists (select from pg_partition_tree(pg_class.oid) where pg_relation_size(relid) > 0)`
  return rows.map(({ name }) => name)
}

/** After rows were copied to the nodes, the coordinator still has its own, which no statement reads. */
async function removeLocalRows(tx: Tx, tables: readonly string[]): Promise<void> {
  for (const table of tables) await tx.script(`select truncate_local_data_after_distributing_table('${table}')`)
}
