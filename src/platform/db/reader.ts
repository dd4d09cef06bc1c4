import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type pg from 'pg'
import { currentSection, enterSection } from '../runtime/event-loop.ts'
import type { Reader } from './access.ts'
import { onShards } from './cluster/shards.ts'
import { type Sql, sql } from './sql.ts'
import { publishStatement } from './statement-channel.ts'

const knownStatementsMax = 1_000
const statementNameLength = 20

export type ReaderOptions = {
  answerWithinMs?: number | undefined
  /** True if statements are completed for the shards of a distributed database. */
  isDistributed?: boolean
  /** True if the transaction keeps plans (kept-plans.ts). */
  keepPlans?: boolean
  beforeQuery?: () => void
  /** Called with the error of each statement that fails, in the order of the statements. Returns the one to throw. */
  causeOf?: (error: unknown) => unknown
}

export function reader(
  target: pg.Pool | pg.ClientBase,
  {
    answerWithinMs,
    isDistributed = false,
    keepPlans = false,
    beforeQuery = () => {},
    causeOf = (error) => error,
  }: ReaderOptions = {},
): Reader {
  const reporting = async <Result>(answer: Promise<Result>): Promise<Result> => {
    try {
      return await answer
    } catch (error) {
      throw causeOf(error)
    }
  }
  const run = async <Row>(query: Sql): Promise<Row[]> => {
    const config: Timed<pg.QueryArrayConfig> = { text: query.text, values: query.values as unknown[], rowMode: 'array' }
    const name = query.hasRowList ? undefined : nameOf(query.text, keepPlans)
    if (name) config.name = name
    if (answerWithinMs !== undefined) config.query_timeout = answerWithinMs
    // The caller continues in a later turn of the event loop, where another section may have been entered.
    const section = currentSection()
    beforeQuery()
    const result = await reporting(target.query(config))
    enterSection(section)
    return toObjects<Row>(result)
  }
  const script = async (text: string) => {
    const config: Timed<pg.QueryConfig> = { text }
    if (answerWithinMs !== undefined) config.query_timeout = answerWithinMs
    await reporting(target.query(config))
  }
  const publishAndRun = <Row>(given: Sql) => {
    const query = isDistributed ? onShards(given) : given
    publishStatement(query.text)
    return run<Row>(query)
  }
  return Object.assign(
    <Row>(strings: TemplateStringsArray, ...values: unknown[]) => publishAndRun<Row>(sql(strings, ...values)),
    { run: publishAndRun, script },
  ) as Reader
}

/** pg accepts a timeout per query, but its types do not declare it. */
type Timed<Config> = Config & { query_timeout?: number }

/**
 * Statements about many rows are planned at each execution, for the tables as they are: a plan kept from a time when a
 * queue was empty would read the whole table when it is full. Only plain inserts are always prepared, since their plan
 * does not depend on the size of a table.
 */
const isPlainInsert = (text: string) => /^\s*insert\s/.test(text) && !/\bjoin\b|\bfrom\s+(?!unnest\()/.test(text)

/** Names are derived from the text, so that processes behind a pooler share names and prepared statements. */
const statementNames = new LRUCache<string, { name: string; isPlainInsert: boolean }>({ max: knownStatementsMax })
function nameOf(text: string, keepPlans: boolean): string | undefined {
  let known = statementNames.get(text)
  if (!known) {
    known = { name: hash('sha1', text).slice(0, statementNameLength), isPlainInsert: isPlainInsert(text) }
    statementNames.set(text, known)
  }
  return keepPlans || known.isPlainInsert ? known.name : undefined
}

const camelNames = new Map<string, string>()
function toCamel(column: string): string {
  let name = camelNames.get(column)
  if (name === undefined) {
    name = column.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
    camelNames.set(column, name)
  }
  return name
}

function toObjects<Row>({ fields, rows }: pg.QueryArrayResult): Row[] {
  if (rows.length === 0) return []
  const names = fields.map((field) => toCamel(field.name))
  return rows.map((values: unknown[]) => {
    const row: Record<string, unknown> = {}
    for (let i = 0; i < names.length; i++) row[names[i]!] = values[i]
    return row as Row
  })
}
