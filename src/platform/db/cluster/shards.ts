import { LRUCache } from 'lru-cache'
import type { OrganizationId } from '../../values/ids.ts'
import { readUuid, uuidBytes } from '../../values/uuid.ts'
import type { Reader } from '../access.ts'
import { type Sql, sql } from '../sql.ts'

// A statement about rows of several organizations joins them with its tables:
//
//   from unnest($1::uuid[], $2::uuid[]) as key (organization_id, id)
//   join messages on messages.organization_id = key.organization_id and messages.id = key.id
//
// For a distributed database, the organizations are also named as constants, so that the statement runs only on their
// shards: `… = key.organization_id and messages.organization_id = $3`. On one PostgreSQL the join is enough, and a
// constant would be planned badly while the statistics of an organization are out of date (docs/decisions/hot-paths.md).

/** The first argument holds the organizations of the rows. */
const keyRows = /\bunnest\s*\(\s*\$(\d+)::uuid\[\][^()]*\)(?:\s+with\s+ordinality)?\s+as\s+\w+\s*\(\s*organization_id\b/
const join = /\b((?:\w+\.)?organization_id) = \w+\.organization_id\b/g
/** Keeps PostgreSQL from scanning whole tables. Citus rejects it in a statement that runs on several shards. */
const fence = /\boffset 0\b/g

/** Whether `onShards` names the organizations of the rows in this statement. */
export const isCompletedOnShards = (text: string): boolean => keyRows.test(text) && text.search(join) >= 0

type Texts = { keysAt: number; forOne: string; forSeveral: string }
const knownTextsMax = 1_000
const knownTexts = new LRUCache<string, Texts | 'unchanged'>({ max: knownTextsMax })

/** Adds to a statement what a distributed database needs to run it only on the shards of the organizations of its rows. */
export function onShards(query: Sql): Sql {
  const texts = textsOf(query)
  if (texts === 'unchanged') return query
  const ids = organizationsOf(query.values[texts.keysAt])
  if (ids.length === 0) return query
  const [text, added] = ids.length === 1 ? [texts.forOne, ids[0]] : [texts.forSeveral, ids]
  return { text, values: [...query.values, added] }
}

function textsOf({ text, values }: Sql): Texts | 'unchanged' {
  let texts = knownTexts.get(text)
  if (texts === undefined) {
    const parameter = `$${values.length + 1}`
    texts = isCompletedOnShards(text)
      ? {
          keysAt: Number(keyRows.exec(text)![1]) - 1,
          forOne: text.replace(join, (joined, column) => `${joined} and ${column} = ${parameter}`),
          forSeveral: text
            .replace(join, (joined, column) => `${joined} and ${column} = any (${parameter}::uuid[])`)
            .replace(fence, ''),
        }
      : 'unchanged'
    knownTexts.set(text, texts)
  }
  return texts
}

const arrayHeadBytes = 20
const lengthBytes = 4

/** Returns the different ids of an array parameter, which is in binary format (platform/db/arrays.ts). */
function organizationsOf(array: unknown): string[] {
  if (!Buffer.isBuffer(array)) return [...new Set(array as string[])]
  const ids = new Set<string>()
  for (let at = arrayHeadBytes; at < array.length; at += lengthBytes + uuidBytes)
    ids.add(readUuid(array, at + lengthBytes))
  return [...ids]
}

const nothing = sql``

/**
 * Returns a condition, starting with `and`, that names the organizations of the rows for each of the columns; empty on a
 * database that is not distributed. Only for statements that must not join the organization, and so are not completed by
 * `onShards`.
 */
export function onShardsOf(
  db: Reader,
  rows: readonly { organizationId: OrganizationId }[],
  ...columns: readonly Sql[]
): Sql {
  if (!db.isDistributed) return nothing
  const ids = [...new Set(rows.map(({ organizationId }) => organizationId))]
  const isOneOf = ids.length === 1 ? sql`= ${ids[0]}` : sql`= any (${ids}::uuid[])`
  return columns.reduce((text, column) => sql`${text} and ${column} ${isOneOf}`, nothing)
}

/**
 * Returns the time for columns whose default is `now()`, if a transaction writes rows that must have the same time: on a
 * distributed database, `now()` of a node is later than that of the coordinator. Null if the default is right.
 */
export async function transactionTime(tx: Reader): Promise<Date | null> {
  if (!tx.isDistributed) return null
  const [row] = await tx<{ at: Date }>`select now() as at`
  return row!.at
}
