import type { EventName } from '../values/event-types.ts'
import type { FlowId, OrganizationId } from '../values/ids.ts'

export type DimensionKind = 'domain' | 'link' | 'reason' | 'version'
export type Dimension = { kind: DimensionKind; value: string }
/** The value under which everything is counted that is not counted individually. */
export const otherValue = ''

type Sums = { total: number; uniques: number; machine: number }
type Counted = { organizationId: OrganizationId; flowId: FlowId; eventName: EventName }
export type FlowCounterRow = Counted &
  Sums & { grain: 'day' | 'quarter'; kind: DimensionKind; startsAt: Date; value: string }

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

type Group = Counted & { quarterMs: number; values: Map<string, Sums & Dimension> }

const quarterMs = 15 * 60_000
export const dayMs = 24 * 60 * 60_000
export const dayOf = (timeMs: number): number => Math.floor(timeMs / dayMs) * dayMs

/** Sums of changes to the counters of flows, to be written at once. */
export class FlowCounterChanges {
  readonly #groups = new Map<string, Group>()

  add(
    { organizationId, flowId, eventName }: Omit<Counted, 'flowId'> & { flowId: FlowId | null },
    at: Date,
    dimensions: readonly Dimension[],
    { total = 0, uniques = 0, machine = 0 }: Partial<Sums>,
  ): void {
    if (flowId === null || dimensions.length === 0) return
    const quarter = Math.floor(+at / quarterMs)
    const key = `${flowId}${eventName}${quarter}`
    let group = this.#groups.get(key)
    if (!group) {
      group = { organizationId, flowId, eventName, quarterMs: quarter * quarterMs, values: new Map() }
      this.#groups.set(key, group)
    }
    for (const { kind, value } of dimensions) {
      const sums = group.values.get(kind + value)
      if (sums) {
        sums.total += total
        sums.uniques += uniques
        sums.machine += machine
      } else group.values.set(kind + value, { kind, value, total, uniques, machine })
    }
  }

  get isEmpty(): boolean {
    return this.#groups.size === 0
  }

  values(): ValueOfDay[] {
    return [...this.#groups.values()].flatMap(({ organizationId, flowId, quarterMs, values }) =>
      [...values.values()].map(({ kind, value }) => ({ organizationId, flowId, kind, dayMs: dayOf(quarterMs), value })),
    )
  }

  /** In key order, so that concurrent transactions lock the counters in one order. */
  rows(isCounted: IsCounted): FlowCounterRow[] {
    const rows = new Map<string, FlowCounterRow>()
    for (const { values, quarterMs, ...counted } of this.#groups.values()) {
      const ofDay = dayOf(quarterMs)
      for (const { kind, value, ...sums } of values.values()) {
        const isOwn = isCounted({ ...counted, kind, dayMs: ofDay, value })
        const row = { ...counted, kind, value: isOwn ? value : otherValue, ...sums }
        sum(rows, { ...row, grain: 'day', startsAt: new Date(ofDay) })
        sum(rows, { ...row, grain: 'quarter', startsAt: new Date(quarterMs) })
      }
    }
    return [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
  }
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
