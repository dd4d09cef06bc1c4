import type { OrganizationId } from '../values/ids.ts'
import type { Reader } from './db.ts'
import { type Sql, sql } from './sql.ts'

type OfOrganization = { organizationId: OrganizationId }

const nothing = sql``

/**
 * Returns a condition, starting with `and`, that names the organizations of the rows for each of the columns: a
 * distributed database then runs the statement only on the shards of these organizations. Empty on a database that is
 * not distributed, where joining the organization is enough: a constant is planned badly while the statistics of an
 * organization are out of date (docs/decisions/hot-paths.md).
 */
export function onShardsOf(db: Reader, rows: readonly OfOrganization[], ...columns: readonly Sql[]): Sql {
  const [first] = rows
  if (!db.isDistributed || !first) return nothing
  if (isOneOrganization(rows))
    return columns.reduce((text, column) => sql`${text} and ${column} = ${first.organizationId}`, nothing)
  const ids = [...new Set(rows.map(({ organizationId }) => organizationId))]
  return columns.reduce((text, column) => sql`${text} and ${column} = any (${ids}::uuid[])`, nothing)
}

export const isOneOrganization = (rows: readonly OfOrganization[]): boolean =>
  rows.every(({ organizationId }) => organizationId === rows[0]!.organizationId)

/**
 * Returns the time for columns whose default is `now()`, if a transaction writes rows that must have the same time: on a
 * distributed database, `now()` of a node is later than that of the coordinator. Null if the default is right.
 */
export async function transactionTime(tx: Reader): Promise<Date | null> {
  if (!tx.isDistributed) return null
  const [row] = await tx<{ at: Date }>`select now() as at`
  return row!.at
}
