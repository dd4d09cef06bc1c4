import type { Reader } from './db.ts'
import { list, rowList, type Sql, sql } from './sql.ts'

/** The type of a column, and its values in all rows. */
export type Column = readonly [type: string, values: readonly unknown[]]

/** A list of values costs more per row than arrays, and a statement has at most 65,535 parameters. */
const rowListMax = 500

/** Returns whether an insert with `on conflict` or `returning` should list its rows: see `insertRows`. */
export const shouldListRows = (db: Reader, rows: number): boolean => db.isDistributed === true && rows <= rowListMax

/**
 * Returns the rows of an insert with `on conflict` or `returning`. PostgreSQL gets an array per column. Citus would first
 * copy such rows to a file for each shard, which costs more than the insert; a list of values is sent to the shards
 * directly. Inserts without these clauses do not need this: Citus copies their rows into the shards.
 */
export function insertRows(db: Reader, columns: readonly Column[]): Sql {
  const rows = columns[0]![1].length
  if (!shouldListRows(db, rows))
    return sql`select * from unnest(${list(columns.map(([type, values]) => cast(values, `${type}[]`)))})`
  return sql`values ${rowList(Array.from({ length: rows }, (_, row) => columns.map(([, values]) => values[row] ?? null)))}`
}

const cast = (value: unknown, type: string): Sql => sql(['', `::${type}`] as unknown as TemplateStringsArray, value)
