import type { Reader } from '../db.ts'

/**
 * - distributed: the rows of an organization are on one node, together with its rows in the other tables
 * - reference: every node has a copy, because rows are looked up without the organization or are referenced by all of them
 * - local: only the coordinator has it
 */
export type Placement = 'distributed' | 'reference' | 'local'

type PlannedTable = { name: string; placement: Placement }

/** A constraint between two distributed tables. It has to be removed while one of them is distributed and the other is not. */
type ForeignKey = { name: string; table: string; target: string; definition: string }

export type DistributionPlan = { tables: PlannedTable[]; foreignKeys: ForeignKey[] }

/** Derived from the catalog, so that tables of later migrations are included. Partitions follow their table. */
export async function readDistributionPlan(db: Reader): Promise<DistributionPlan> {
  const tables = await db<PlannedTable>`
    select relname::text as name, case
      when exists (
        select from pg_index
        join pg_attribute on attrelid = indrelid and attnum = indkey[0] and attname = 'organization_id'
        where indrelid = pg_class.oid and indisprimary) then 'distributed'
      when relname = 'organizations' or exists (
        select from pg_constraint
        where conrelid = pg_class.oid and contype = 'f' and confrelid = 'organizations'::regclass) then 'reference'
      else 'local' end as placement
    from pg_class
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition
      and not exists (select from pg_depend where objid = pg_class.oid and deptype = 'e')
    order by relname`
  const distributed = tables.filter(({ placement }) => placement === 'distributed').map(({ name }) => name)
  const foreignKeys = await db<ForeignKey>`
    select conname::text as name, conrelid::regclass::text as table, confrelid::regclass::text as target,
      pg_get_constraintdef(oid) as definition
    from pg_constraint
    where contype = 'f' and conparentid = 0 and conrelid::regclass::text = any (${distributed}::text[])
      and confrelid::regclass::text = any (${distributed}::text[])
    order by conname`
  return { tables, foreignKeys }
}

/** Tables that are distributed in one transaction. */
export type DistributionStep = { placement: Exclude<Placement, 'local'>; tables: string[]; foreignKeys: ForeignKey[] }

/** Returns the steps left: reference tables first, since others refer to them, then groups with foreign keys. */
export function distributionSteps(plan: DistributionPlan, done: ReadonlySet<string>): DistributionStep[] {
  const namesOf = (placement: Placement) =>
    plan.tables.filter((table) => table.placement === placement).map(({ name }) => name)
  const references = namesOf('reference').toSorted(
    (a, b) => Number(b === 'organizations') - Number(a === 'organizations'),
  )
  const groups = connectedTables(namesOf('distributed'), plan.foreignKeys)
  return [
    ...references.map((name) => ({ placement: 'reference' as const, tables: [name], foreignKeys: [] })),
    ...groups.map((tables) => ({
      placement: 'distributed' as const,
      tables,
      foreignKeys: plan.foreignKeys.filter(({ table }) => tables.includes(table)),
    })),
  ].filter(({ tables }) => tables.some((name) => !done.has(name)))
}

function connectedTables(names: readonly string[], foreignKeys: readonly ForeignKey[]): string[][] {
  const groups = new Map(names.map((name) => [name, [name]]))
  for (const { table, target } of foreignKeys) {
    const [from, to] = [groups.get(table)!, groups.get(target)!]
    if (from === to) continue
    to.push(...from)
    for (const name of from) groups.set(name, to)
  }
  return [...new Set(groups.values())]
}

/** The statements of a step. `colocatedWith` is a table that is distributed already. */
export function stepStatements(
  { placement, tables, foreignKeys }: DistributionStep,
  { done, colocatedWith }: { done: ReadonlySet<string>; colocatedWith: string | undefined },
): string[] {
  const left = tables.filter((name) => !done.has(name))
  if (placement === 'reference') return left.map((name) => `select create_reference_table('${name}')`)
  const [first] = left
  return [
    ...foreignKeys.map(({ table, name }) => `alter table ${table} drop constraint ${name}`),
    ...left.map((name) => {
      const other = colocatedWith ?? (name === first ? 'none' : first!)
      return `select create_distributed_table('${name}', 'organization_id', colocate_with => '${other}')`
    }),
    ...foreignKeys.map(({ table, name, definition }) => `alter table ${table} add constraint ${name} ${definition}`),
  ]
}
