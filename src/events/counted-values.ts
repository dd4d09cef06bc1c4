import { LRUCache } from 'lru-cache'
import type { Tx } from '../db/db.ts'
import { groupBy } from '../values/group-by.ts'
import { addCountedValues, type CountedValues, selectCountedValues, valuesMax } from './flow-counters.sql.ts'
import type { IsCounted, ValueOfDay } from './flow-counters.ts'

/**
 * Values that are known to be committed. They are never removed, so an entry cannot be wrong, only incomplete. A few
 * flows send most emails, and their entries cost no query.
 */
const known = new LRUCache<string, Set<string>>({ max: 5_000 })

const dateOf = (dayMs: number) => new Date(dayMs).toISOString().slice(0, 10)
const keyOf = ({ flowId, kind, dayMs }: ValueOfDay) => `${flowId}${kind}${dayMs}`
const rowKeyOf = ({ flowId, kind, day }: CountedValues) => `${flowId}${kind}${Date.parse(day)}`

const isDecided = (value: ValueOfDay) => {
  const counted = known.get(keyOf(value))
  return counted !== undefined && (counted.has(value.value) || counted.size >= valuesMax[value.kind])
}

/**
 * Decides which of these values are counted individually: the first ones of a day, as many as there is room for. The
 * row of a day stays locked until the end of the transaction if a value is added to it.
 */
export async function countValues(tx: Tx, values: readonly ValueOfDay[]): Promise<IsCounted> {
  const open = values.filter((value) => !isDecided(value))
  if (open.length === 0) return isIn(known)
  for (const row of await selectCountedValues(tx, rowsOf(open))) known.set(rowKeyOf(row), new Set(row.counted))
  const missing = rowsOf(open.filter((value) => !isDecided(value)))
  if (missing.length === 0) return isIn(known)
  // Not remembered before the commit.
  return isIn(known, await addCountedValues(tx, missing))
}

/** Returns which values are counted individually, also if that was decided in this transaction. Adds none. */
export async function findCountedValues(tx: Tx, values: readonly ValueOfDay[]): Promise<IsCounted> {
  return isIn(known, await selectCountedValues(tx, rowsOf(values)))
}

function isIn(committed: typeof known, rows: readonly CountedValues[] = []): IsCounted {
  const current = new Map(rows.map((row) => [rowKeyOf(row), new Set(row.counted)]))
  return (value) => (current.get(keyOf(value)) ?? committed.get(keyOf(value)))?.has(value.value) ?? false
}

/** In key order, so that concurrent transactions lock the rows in one order. */
const rowsOf = (values: readonly ValueOfDay[]): CountedValues[] =>
  groupBy(values, keyOf).map(([, [first, ...rest]]) => {
    const { organizationId, flowId, kind, dayMs, value } = first!
    const counted = [...new Set([value, ...rest.map((each) => each.value)])].slice(0, valuesMax[kind])
    return { organizationId, flowId, kind, day: dateOf(dayMs), counted }
  })
