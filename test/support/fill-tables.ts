import type { Db } from '../../src/platform/db/db.ts'
import { leastId } from '../../src/platform/values/ids.ts'

type Column = { table: string; name: string; type: string; isRequired: boolean; checks: string[] }

/** A UUIDv7 of its own month for each row, so that rows of partitioned tables are in several partitions. */
const idOf = (row: number) =>
  leastId('evt', Date.UTC(2026, row, 1) + row).replace(/.{4}$/, String(row).padStart(4, '0'))

/**
 * Inserts up to `rows` rows into every table that has none, with values that satisfy types, checks and foreign keys: in
 * row n every UUID is the same one. Tables that they refer to get such rows as well, also if they have others. Tables that
 * are added later are filled as well.
 */
export async function fillTables(db: Db, rows = 6): Promise<void> {
  const columns = await db<Column>`
    select relname as table, attname as name, format_type(atttypid, null) as type,
      attnotnull and not atthasdef as is_required,
      array(select pg_get_constraintdef(oid) from pg_constraint
        where conrelid = pg_class.oid and contype = 'c' and attnum = any (conkey)) as checks
    from pg_attribute join pg_class on pg_class.oid = attrelid
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition
      and relname <> 'schema_migrations' and attnum > 0 and not attisdropped and attgenerated = '' and attidentity = ''
    order by relname, attnum`
  const byTable = new Map<string, Column[]>()
  for (const column of columns) byTable.set(column.table, [...(byTable.get(column.table) ?? []), column])
  const isFilled = async (table: string) =>
    (await db.run({ text: `select from ${table} limit 1`, values: [] })).length > 0
  const [organization] = await db<{ id: string }>`select id from organizations order by created_at limit 1`
  const organizationId = organization?.id ?? idOf(0)
  const references = await db<{ table: string; referenced: string }>`
    select conrelid::regclass::text as table, confrelid::regclass::text as referenced from pg_constraint
    where contype = 'f' and connamespace = current_schema()::regnamespace
      and confrelid <> 'organizations'::regclass`
  const filled = new Set<string>()
  for (const table of byTable.keys()) if (!(await isFilled(table))) filled.add(table)
  // Also visits those that it adds.
  for (const table of filled) for (const each of references) if (each.table === table) filled.add(each.referenced)
  const statements: string[] = []
  for (const table of filled) {
    const its = byTable.get(table)!
    const names = its.map(({ name }) => name).join(', ')
    for (let row = 0; row < rows; row++)
      statements.push(
        `insert into ${table} (${names}) values (${its.map((column) => valueFor(column, row, organizationId)).join(', ')}) on conflict do nothing`,
      )
  }
  await db.begin(async (tx) => {
    // Referenced rows may come later. On Citus, the setting is for the sessions of the nodes as well.
    if (db.isDistributed) await tx.script("set local citus.propagate_set_commands = 'local'")
    await tx.script('set local session_replication_role = replica')
    for (const statement of statements) await tx.script(statement)
  })
  const empty = []
  for (const table of byTable.keys()) if (!(await isFilled(table))) empty.push(table)
  if (empty.length > 0) throw new Error(`Tables without rows: ${empty.join(', ')}`)
}

/** Text with everything that COPY escapes. */
const awkward = (row: number) => `'Zoë ${row}\\ ''x''\\t' || E'\\n\\t\\\\N' || '😀'`

function valueFor({ name, type, isRequired, checks }: Column, row: number, organizationId: string): string {
  const choice = /= ANY \(ARRAY\[(.*?)\]\)/.exec(checks.find((check) => check.includes('ANY (ARRAY')) ?? '')?.[1]
  if (choice) {
    const choices = choice.split(', ')
    return choices[row % choices.length]!
  }
  if (name === 'organization_id') return `'${organizationId}'`
  if (name === 'only_row') return 'true'
  if (name === 'base_url') return "'https://mail.example.com'"
  // There is no bucket.
  if (name === 'in_bucket') return 'false'
  // A row of nulls, and one of values.
  if (row % 2 === 1 && !isRequired && !name.endsWith('id')) return 'default'
  switch (type.replace(/\(.*\)/, '')) {
    case 'uuid':
      return `'${idOf(row)}'`
    case 'text':
    case 'character varying':
      return awkward(row)
    case 'text[]':
      return `array[${awkward(row)}, 'b']`
    case 'integer[]':
      // The values that the checks of all such columns allow.
      return `'{429}'`
    case 'json':
    case 'jsonb':
      return `'{"n": 12345678901234567890.5, "text": "a\\\\nb\\"c"}'`
    case 'bytea':
      return `'\\x00ff${String(row).padStart(2, '0')}0a5c'`
    case 'boolean':
      return String(row === 0)
    case 'timestamp with time zone':
      return `'2026-0${row + 1}-03T04:05:06.789012Z'`
    case 'date':
      return `'2026-0${row + 1}-03'`
    default:
      return String(row)
  }
}
