import { dayMs } from '../values/durations.ts'
import type { EventName } from '../values/event-types.ts'
import type { FlowId, OrganizationId } from '../values/ids.ts'
import type { Dimension, DimensionKind, FlowCounterRow } from './flow-counters.sql.ts'

export type { Dimension, DimensionKind } from './flow-counters.sql.ts'

/** The value under which everything is counted that is not counted individually. */
export const otherValue = ''

type Sums = { total: number; uniques: number; machine: number }
type Counted = { organizationId: OrganizationId; flowId: FlowId; eventName: EventName }

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
  readonly #byFlow = new Map<FlowId, Map<EventName, Group[]>>()

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

  #groupOf(organizationId: OrganizationId, flowId: FlowId, eventName: EventName, quarter: number): Group {
    const byName = getOrAdd(this.#byFlow, flowId, () => new Map<EventName, Group[]>())
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

  /** In key order, so that concurrent transactions lock the counters in one order. */
  rows(isCounted: IsCounted): FlowCounterRow[] {
    const rows = new Map<string, FlowCounterRow>()
    for (const { values, quarter, ...counted } of this.#groups) {
      const ofDay = dayOf(quarter * quarterMs)
      for (const [kind, ofKind] of values)
        for (const [value, sums] of ofKind) {
          const isOwn = isCounted({ ...counted, kind, dayMs: ofDay, value })
          const row = { ...counted, kind, value: isOwn ? value : otherValue, ...sums }
          sum(rows, { ...row, grain: 'day', startsAt: new Date(ofDay) })
          sum(rows, { ...row, grain: 'quarter', startsAt: new Date(quarter * quarterMs) })
        }
    }
    return [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
  }
}

function getOrAdd<Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value {
  const known = map.get(key)
  if (known !== undefined) return known
  const created = create()
  map.set(key, created)
  return created
}

function sum(rows: Map<string, FlowCounterRow>, row: FlowCounterRow): void {
  const { organizationId, flowId, grain, kind, startsAt, eventName, value } = row
  const key = `${organizationId}${flowId}${grain}${kind}${+startsAt}${eventName}${value}`
  const known = rows.get(key)
  if (!known) rows.set(key, row)
  else {
    known.total += row.total
    known.uniques += row.uniques
    known.machine += row.machine
  }
}
