import type { Reader } from './access.ts'
import { type Sql, sql } from './sql.ts'

export type RowKey = { organizationId: string; id: string }

/** Returns the rows of a table in the order of the keys; undefined if a row does not exist or meet the condition. */
export async function findByKeys<Row extends { id: string }>(
  db: Reader,
  table: Sql,
  keys: readonly RowKey[],
  condition = sql`true`,
): Promise<(Row | undefined)[]> {
  const rows = await db<Row>`
    select found.*
    from unnest(${keys.map((key) => key.organizationId)}::uuid[], ${keys.map((key) => key.id)}::uuid[])
      as wanted (organization_id, id)
    join ${table} as found on found.organization_id = wanted.organization_id and found.id = wanted.id
    where ${condition}`
  return keys.map(({ id }) => rows.find((row) => row.id === id))
}
