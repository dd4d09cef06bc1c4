import { LRUCache } from 'lru-cache'
import type { Tx } from '../../platform/db/db.ts'
import { dayMs } from '../../platform/values/durations.ts'
import { groupBy } from '../../platform/values/group-by.ts'
import type { FlowId, OrganizationId } from '../../platform/values/ids.ts'
import type { CounterName } from './counters.sql.ts'
import {
  addCountedValues,
  type CountedValues,
  type Dimension,
  type DimensionKind,
  type FlowCounterRow,
  selectCountedValues,
  valuesMax,
} from './flow-counters.sql.ts'

export type { Dimension, DimensionKind } from './flow-counters.sql.ts'

/** The value under which everything is counted that is not counted individually. */
export const otherValue = ''

type Sums = { total: number; uniques: number; machine: number }
type Counted = { organizationId: OrganizationId; flowId: FlowId; eventName: CounterName }

/** One value on one UTC day. */
export type ValueOfDay = {
  organizationId: OrganizationId
  flowId: FlowId
  kind: DimensionKind
  /** Midnight UTC. */
  dayMs: number
  value: string
}
export type IsCounted = (value: ValueOfDay) => boolean

type Group = Counted & { quarter: number; values: Map<DimensionKind, Map<string, Sums>> }

const quarterMs = 15 * 60_000
const dayOf = (timeMs: number): number => Math.floor(timeMs / dayMs) * dayMs

/**
 * Sums of changes to the counters of flows, to be written at once. `add` is called for every event, so it concatenates
 * no keys: that took most of its time.
 */
export class FlowCounterChanges {
  readonly #groups: Group[] = []
  readonly #byFlow = new Map<FlowId, Map<CounterName, Group[]>>()

  add(
    { organizationId, flowId, eventName }: Omit<Counted, 'flowId'> & { flowId: FlowId | null },
    at: Date,
    dimensions: readonly Dimension[],
    { total = 0, uniques = 0, machine = 0 }: Partial<Sums>,
  ): void {
    if (flowId === null || dimensions.length === 0) return
    const { values } = this.#groupOf(organizationId, flowId, eventName, Math.floor(at.getTime() / quarterMs))
    for (const { kind, value } of dimensions) {
      const ofKind = getOrAdd(values, kind, () => new Map<string, Sums>())
      const sums = ofKind.get(value)
      if (sums) {
        sums.total += total
        sums.uniques += uniques
        sums.machine += machine
      } else ofKind.set(value, { total, uniques, machine })
    }
  }

  #groupOf(organizationId: OrganizationId, flowId: FlowId, eventName: CounterName, quarter: number): Group {
    const byName = getOrAdd(this.#byFlow, flowId, () => new Map<CounterName, Group[]>())
    const groups = getOrAdd(byName, eventName, () => [])
    // The events of a batch are of one or two quarters.
    let group = groups.find((each) => each.quarter === quarter)
    if (!group) {
      group = { organizationId, flowId, eventName, quarter, values: new Map() }
      groups.push(group)
      this.#groups.push(group)
    }
    return group
  }

  get isEmpty(): boolean {
    return this.#groups.length === 0
  }

  values(): ValueOfDay[] {
    return this.#groups.flatMap(({ organizationId, flowId, quarter, values }) =>
      [...values].flatMap(([kind, sums]) =>
        [...sums.keys()].map((value) => ({ organizationId, flowId, kind, dayMs: dayOf(quarter * quarterMs), value })),
      ),
    )
  }

  /** Returns the counters of quarters. Several may be those of `otherValue`. */
  quarters(isCounted: IsCounted): FlowCounterRow[] {
    return this.#groups.flatMap(({ values, quarter, ...counted }) => {
      const startsAt = new Date(quarter * quarterMs)
      const ofDay = dayOf(+startsAt)
      return [...values].flatMap(([kind, ofKind]) =>
        [...ofKind].map(([value, sums]): FlowCounterRow => {
          const isOwn = isCounted({ ...counted, kind, dayMs: ofDay, value })
          return { grain: 'quarter', startsAt, kind, value: isOwn ? value : otherValue, ...counted, ...sums }
        }),
      )
    })
  }
}

/**
 * Returns the sums of counters of quarters, and of their days, in key order, so that concurrent transactions lock the
 * counters in one order.
 */
export function withDays(quarters: readonly FlowCounterRow[]): FlowCounterRow[] {
  const rows = new Map<string, FlowCounterRow>()
  for (const row of quarters) sum(rows, row, 'quarter', row.startsAt)
  for (const row of [...rows.values()]) sum(rows, row, 'day', new Date(dayOf(+row.startsAt)))
  return [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
}

export function getOrAdd<Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value {
  const known = map.get(key)
  if (known !== undefined) return known
  const created = create()
  map.set(key, created)
  return created
}

function sum(
  rows: Map<string, FlowCounterRow>,
  { organizationId, flowId, kind, eventName, value, total, uniques, machine }: FlowCounterRow,
  grain: FlowCounterRow['grain'],
  startsAt: Date,
): void {
  const key = `${organizationId}${flowId}${grain}${kind}${+startsAt}${eventName}${value}`
  const known = rows.get(key)
  if (known) {
    known.total += total
    known.uniques += uniques
    known.machine += machine
  } else rows.set(key, { organizationId, flowId, grain, kind, startsAt, eventName, value, total, uniques, machine })
}

/**
 * Values that are known to be committed. They are never removed, so an entry cannot be wrong, only incomplete. A few
 * flows send most emails, and their entries cost no query.
 */
const known = new LRUCache<string, Set<string>>({ max: 5_000 })

/** Transactions that have added values. What they read is not known to be committed. */
const adding = new WeakSet<Tx>()

const dateOf = (dayMs: number) => new Date(dayMs).toISOString().slice(0, 10)
const keyOf = ({ flowId, kind, dayMs }: ValueOfDay) => `${flowId}${kind}${dayMs}`
const rowKeyOf = ({ flowId, kind, day }: CountedValues) => `${flowId}${kind}${Date.parse(day)}`

const isDecided = (value: ValueOfDay, sets: Pick<ReadonlyMap<string, Set<string>>, 'get'> = known) => {
  const counted = sets.get(keyOf(value))
  return counted !== undefined && (counted.has(value.value) || counted.size >= valuesMax[value.kind])
}

/**
 * Decides which of these values are counted individually: the first ones of a day, as many as there is room for. The
 * row of a day stays locked until the end of the transaction if a value is added to it.
 */
export async function countValues(tx: Tx, values: readonly ValueOfDay[]): Promise<IsCounted> {
  const open = values.filter((value) => !isDecided(value))
  if (open.length === 0) return isIn(new Map())
  const stored = setsOf(await selectCountedValues(tx, rowsOf(open)))
  if (!adding.has(tx)) for (const [key, counted] of stored) known.set(key, counted)
  const missing = rowsOf(open.filter((value) => !isDecided(value, stored)))
  if (missing.length === 0) return isIn(stored)
  adding.add(tx)
  return isIn(new Map([...stored, ...setsOf(await addCountedValues(tx, missing))]))
}

/** Returns which values are counted individually, also if that was decided in this transaction. Adds none. */
export async function findCountedValues(tx: Tx, values: readonly ValueOfDay[]): Promise<IsCounted> {
  return isIn(setsOf(await selectCountedValues(tx, rowsOf(values))))
}

const setsOf = (rows: readonly CountedValues[]) => new Map(rows.map((row) => [rowKeyOf(row), new Set(row.counted)]))

const isIn =
  (current: ReadonlyMap<string, Set<string>>): IsCounted =>
  (value) =>
    (current.get(keyOf(value)) ?? known.get(keyOf(value)))?.has(value.value) ?? false

/** In key order, so that concurrent transactions lock the rows in one order. */
const rowsOf = (values: readonly ValueOfDay[]): CountedValues[] =>
  groupBy(values, keyOf).map(([, [first, ...rest]]) => {
    const { organizationId, flowId, kind, dayMs, value } = first!
    const counted = [...new Set([value, ...rest.map((each) => each.value)])].slice(0, valuesMax[kind])
    return { organizationId, flowId, kind, day: dateOf(dayMs), counted }
  })
