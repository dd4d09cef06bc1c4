import type { Reader } from '../access.ts'
import { arrayParameter, type Sql, sqlOf } from '../sql.ts'

/** The type of a column, and its values in all rows. */
type Column = readonly [type: string, values: readonly unknown[]]

/** A list of values costs more per row than arrays, and a statement has at most 65,535 parameters. */
const rowListMax = 500

/**
 * Returns the rows of an insert with `on conflict` or `returning`; `select` is what is inserted of their columns.
 * PostgreSQL gets an array per column. Citus would first copy such rows to a file for each shard, which costs more than
 * the insert; a list of values is sent to the shards directly. Inserts without these clauses do not need this: Citus
 * copies their rows into the shards.
 */
export function insertRows(
  db: Reader,
  columns: Readonly<Record<string, Column>>,
  select = Object.keys(columns).join(', '),
): Sql {
  const names = Object.keys(columns)
  const all = Object.values(columns)
  const rows = all[0]![1].length
  if (!db.isDistributed || rows > rowListMax) {
    const arrays = all.map(([type], index) => `$${index + 1}::${type}[]`)
    return sqlOf(
      `select ${select} from unnest(${arrays.join(', ')}) as row (${names.join(', ')})`,
      all.map(([type, values]) => arrayParameter(type, values)),
    )
  }
  const words = select.split(/\b/)
  const values: unknown[] = []
  const texts = Array.from({ length: rows }, (_, row) => {
    const parameters = new Map(
      all.map(([type, cells], index) => [names[index]!, `$${values.push(cells[row] ?? null)}::${type}`]),
    )
    return `(${words.map((word) => parameters.get(word) ?? word).join('')})`
  })
  return sqlOf(`values ${texts.join(', ')}`, values, { hasRowList: true })
}
