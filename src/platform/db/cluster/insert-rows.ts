import type { Reader } from '../access.ts'
import { arrayParameter, type Sql, sqlOf } from '../sql.ts'

/** The type of a column, and its values in all rows. */
type Column = readonly [type: string, values: readonly unknown[]]
type NamedColumn = [name: string, column: Column]

/** A list of values costs more per row than arrays, and a statement has at most 65,535 parameters. */
const rowListMax = 500
const sharedFrom = 50

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
  if (!db.isDistributed || rows > rowListMax) return rowsOfArrays(Object.entries(columns), select)
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

/** A value that all rows have in common is sent once. The texts of statements about few rows stay the same. */
function rowsOfArrays(columns: readonly NamedColumn[], select: string): Sql {
  const shared = columns.filter(
    ([, [, values]]) => values.length >= sharedFrom && values.every((each) => each === values[0]),
  )
  // Something has to say how many rows there are.
  if (shared.length === columns.length) shared.pop()
  const single = new Set(shared)
  const arrays = columns.filter((column) => !single.has(column))
  const arrayTexts = arrays.map(([, [type]], index) => `$${index + 1}::${type}[]`)
  const sharedTexts = shared.map(([name, [type]], index) => `$${arrays.length + index + 1}::${type} as ${name}`)
  const rows = `unnest(${arrayTexts.join(', ')}) as row (${arrays.map(([name]) => name).join(', ')})`
  const from = shared.length === 0 ? rows : `${rows}, (select ${sharedTexts.join(', ')}) as shared`
  return sqlOf(`select ${select} from ${from}`, [
    ...arrays.map(([, [type, values]]) => arrayParameter(type, values)),
    ...shared.map(([, [, values]]) => values[0] ?? null),
  ])
}
