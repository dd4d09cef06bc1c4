import type pg from 'pg'
import type { Manifest, PartitionEntry, SequenceEntry, TableEntry } from './manifest.ts'

/** Objects in the schema that Waxwing uses, except objects of extensions. */
const ours = (catalog: string, oid: string, namespace: string) => `
  ${namespace} = current_schema()::regnamespace
  and not exists (select from pg_depend where classid = '${catalog}'::regclass and objid = ${oid} and deptype = 'e')`
const ourTables = ours('pg_class', 'pg_class.oid', 'relnamespace')

/** The columns of a table that can be written, and the tables that it references. */
export const columnsOf = (condition: string) => `
  array(
    select attname::text from pg_attribute
    where attrelid = pg_class.oid and attnum > 0 and not attisdropped and attgenerated = '' ${condition}
    order by attnum)`
export const referencesOf = `
  array(
    select distinct confrelid::regclass::text from pg_constraint
    where conrelid = pg_class.oid and contype = 'f' and confrelid <> conrelid)`

export type FoundTable = TableEntry & { rowsEstimated: number; bytes: number }

/**
 * Returns the tables with rows in dependency order, with the columns that can be written.
 * Partitions are tables, partitioned tables are not.
 */
export async function selectTables(client: pg.ClientBase): Promise<FoundTable[]> {
  const { rows } = await client.query<FoundTable & { references: string[] }>(`
    select relname as name, greatest(reltuples, 0)::float8 as "rowsEstimated",
      pg_table_size(pg_class.oid)::float8 as bytes, ${columnsOf('')} as columns, ${referencesOf} as references
    from pg_class
    where relkind = 'r' and relpersistence = 'p' and relname <> 'schema_migrations' and ${ourTables}
    order by relname`)
  return inOrder(rows)
}

/** Puts referenced tables first. Tables that reference each other have deferrable keys, so any order works. */
export function inOrder<Table extends { name: string; references: string[] }>(tables: Table[]): Table[] {
  const names = new Map(tables.map((table) => [table.name, table]))
  const ordered = new Set<Table>()
  const visit = (table: Table, path: Table[]) => {
    if (ordered.has(table) || path.includes(table)) return
    for (const name of table.references) {
      const referenced = names.get(name)
      if (referenced) visit(referenced, [...path, table])
    }
    ordered.add(table)
  }
  for (const table of tables) visit(table, [])
  return [...ordered]
}

/** Returns the names of the tables that have partitions. */
export async function selectPartitioned(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_class where relkind = 'p' and ${ourTables}`,
  )
  return rows.map(({ name }) => name)
}

/** Throws if a table is partitioned in another way than by ranges of one column. */
export async function selectPartitions(client: pg.ClientBase): Promise<PartitionEntry[]> {
  const { rows } = await client.query<{ name: string; parent: string; bound: string }>(`
    select relname as name, inhparent::regclass::text as parent, pg_get_expr(relpartbound, pg_class.oid) as bound
    from pg_class join pg_inherits on inhrelid = pg_class.oid
    where relispartition and relkind = 'r' and ${ourTables}
    order by relname`)
  return rows.map(({ bound, ...entry }) => ({ ...entry, bound: parseBound(bound) }))
}

function parseBound(text: string): PartitionEntry['bound'] {
  if (text === 'DEFAULT') return null
  const match = /^FOR VALUES FROM \('([^']*)'\) TO \('([^']*)'\)$/.exec(text)
  if (!match) throw new Error(`Partitions like this one cannot be backed up: ${text}`)
  return { from: match[1]!, to: match[2]! }
}

export async function selectSequences(client: pg.ClientBase): Promise<SequenceEntry[]> {
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_class where relkind = 'S' and ${ourTables} order by relname`,
  )
  const sequences: SequenceEntry[] = []
  for (const { name } of rows) {
    const state = await client.query<SequenceEntry>(
      `select ${client.escapeLiteral(name)} as name, last_value::text as value, is_called as "isCalled" from ${client.escapeIdentifier(name)}`,
    )
    sequences.push(state.rows[0]!)
  }
  return sequences
}

/** Returns undefined if the schema has no migrations. */
export async function selectMigrations(client: pg.ClientBase): Promise<Manifest['migrations'] | undefined> {
  const found = await client.query<{ exists: boolean }>("select to_regclass('schema_migrations') is not null as exists")
  if (!found.rows[0]!.exists) return undefined
  const { rows } = await client.query<{ number: number; name: string }>(
    'select number, name from schema_migrations order by number',
  )
  return rows
}

export type Contents = {
  /** Tables, other than the list of migrations. */
  tables: number
  isWaxwing: boolean
  organizations: number
}

/** Returns the contents of the schema, to decide whether a backup may be restored into it. */
export async function selectContents(client: pg.ClientBase): Promise<Contents> {
  const { rows } = await client.query<{ tables: number; isWaxwing: boolean; hasOrganizations: boolean }>(`
    select count(*)::int as tables,
      to_regclass('schema_migrations') is not null as "isWaxwing",
      to_regclass('organizations') is not null as "hasOrganizations"
    from pg_class where relkind in ('r', 'p', 'v', 'm') and relname <> 'schema_migrations' and ${ourTables}`)
  const { tables, isWaxwing, hasOrganizations } = rows[0]!
  const counted = hasOrganizations
    ? await client.query<{ count: number }>('select count(*)::int as count from organizations')
    : undefined
  return { tables, isWaxwing, organizations: counted?.rows[0]?.count ?? 0 }
}

/** Returns how many other Waxwing processes use the database. */
export async function countServices(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ count: number }>(`
    select count(distinct coalesce(client_addr::text, '') || application_name)::int as count from pg_stat_activity
    where datname = current_database() and application_name ~ '^waxwing( [(]|$)' and pid <> pg_backend_pid()`)
  return rows[0]!.count
}

/** Drops everything in the schema except what belongs to extensions. */
export async function dropAll(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ statement: string }>(`
    select format('drop %s if exists %s cascade',
      case relkind when 'v' then 'view' when 'm' then 'materialized view' else 'table' end,
      pg_class.oid::regclass) as statement
    from pg_class
    where relkind in ('r', 'p', 'v', 'm') and not relispartition and ${ourTables}
    union all
    select format('drop routine if exists %s cascade', pg_proc.oid::regprocedure)
    from pg_proc where ${ours('pg_proc', 'pg_proc.oid', 'pronamespace')}
    union all
    select format('drop sequence if exists %s cascade', pg_class.oid::regclass)
    from pg_class where relkind = 'S' and ${ourTables}
    union all
    select format('drop type if exists %s cascade', pg_type.oid::regtype)
    from pg_type where typtype in ('d', 'e') and ${ours('pg_type', 'pg_type.oid', 'typnamespace')}`)
  for (const { statement } of rows) await client.query(statement)
}
