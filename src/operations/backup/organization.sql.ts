import type pg from 'pg'
import type { OrganizationId } from '../../platform/values/ids.ts'
import { columnsOf, inOrder, referencesOf } from './catalog.sql.ts'
import { excludedColumns, excludedTables, exportedValues } from './organization-tables.ts'

export type TenantTable = { name: string; columns: string[]; keys: string[] }

/** Returns the tables with rows of one organization, in dependency order. */
export async function selectTenantTables(client: pg.ClientBase): Promise<TenantTable[]> {
  const { rows } = await client.query<TenantTable & { references: string[] }>(`
    select relname as name, ${columnsOf("and attidentity = ''")} as columns, ${referencesOf} as references,
      array(
        select attname::text from pg_index join pg_attribute on attrelid = indrelid and attnum = any (indkey)
        where indrelid = pg_class.oid and indisprimary
        order by array_position(indkey, attnum)) as keys
    from pg_class
    where relkind in ('r', 'p') and not relispartition and relnamespace = current_schema()::regnamespace
      and (relname = 'organizations' or exists (
        select from pg_attribute where attrelid = pg_class.oid and attname = 'organization_id' and not attisdropped))
    order by relname`)
  return inOrder(rows)
    .filter(({ name }) => !excludedTables.has(name))
    .map(({ name, columns, keys }) => ({
      name,
      keys,
      columns: columns.filter((column) => !excludedColumns[name]?.includes(column)),
    }))
}

/** Yields the rows of the organization as lines of JSON, a thousand at a time. Must run in a transaction. */
export async function* readRows(
  client: pg.ClientBase,
  { name, columns, keys }: TenantTable,
  organizationId: OrganizationId,
): AsyncGenerator<string[]> {
  const values = valuesOf(name, columns).map((value, index) => `${value} as ${columns[index]}`)
  await client.query(
    `declare export_rows no scroll cursor for
      select row_to_json(exported)::text as line from (
        select ${values.join(', ')} from ${name}
        where ${organizationColumn(name)} = ${client.escapeLiteral(organizationId)}
        order by ${keys.join(', ')}
      ) exported`,
  )
  for (;;) {
    const { rows } = await client.query<{ line: string }>('fetch 1000 from export_rows')
    if (rows.length === 0) break
    yield rows.map(({ line }) => line)
  }
  await client.query('close export_rows')
}

/**
 * `lines` are rows as JSON; `extra` are values for columns that are not exported. Values that are replaced are written even
 * if `columns` does not name them, so that their defaults are not used instead. Returns false, after inserting only a part
 * of the rows, if a row belongs to another organization or a line is not exactly one row.
 */
export async function insertRows(
  client: pg.ClientBase,
  organizationId: OrganizationId,
  { table, columns }: { table: string; columns: string[] },
  lines: string[],
  extra: Record<string, unknown> = {},
): Promise<boolean> {
  const more = Object.keys(extra)
  const written = [...new Set([...columns, ...Object.keys(exportedValues[table] ?? {})])]
  const { rowCount } = await client.query(
    `insert into ${table} (${[...written, ...more].join(', ')})
      select ${[...valuesOf(table, written), ...more.map((_, index) => `$${index + 3}`)].join(', ')}
      from jsonb_populate_recordset(null::${table}, $1)
      where ${organizationColumn(table)} = $2`,
    [`[${lines.join(',')}]`, organizationId, ...Object.values(extra)],
  )
  return rowCount === lines.length
}

export const organizationColumn = (table: string) => (table === 'organizations' ? 'id' : 'organization_id')
const valuesOf = (table: string, columns: string[]) =>
  columns.map((column) => exportedValues[table]?.[column] ?? column)

export type OrganizationState = { name: string; isDeleted: boolean }

export async function findOrganization(client: pg.ClientBase, id: OrganizationId) {
  const { rows } = await client.query<OrganizationState>(
    'select name, deleted_at is not null as "isDeleted" from organizations where id = $1',
    [id],
  )
  return rows[0]
}
