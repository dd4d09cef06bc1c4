import type { Tx } from '../../platform/db/db.ts'
import { dayMs, hourMs } from '../../platform/values/durations.ts'
import { type FlowId, leastId, type OrganizationId } from '../../platform/values/ids.ts'
import { type BouncedRecipients, countBouncedRecipients } from './consequences.sql.ts'
import { addToCounters, type CounterName, type CounterRow } from './counters.sql.ts'
import { addToFlowCounters, type FlowCounterRow } from './flow-counters.sql.ts'
import { withDays } from './flow-counters.ts'

export type { CounterName } from './counters.sql.ts'

/** The value of `event_counters.flow_id` in rows that count the events of all flows. */
export const allFlows = leastId('flw', 0)

/** The counters of an event: those of its flow, or only those of all flows if the event has no message. */
export type Counted = { organizationId: OrganizationId; eventName: CounterName; flowId: FlowId | null }

const grains = { day: dayMs, quarter: hourMs / 4 }

/** Sums of changes to the counters, to be written at once. */
export class CounterChanges {
  /** Summed by quarter-hour first: hundreds of events become a few rows before they are multiplied by grain and flow. */
  readonly quarters = new Map<string, CounterRow>()
  /** Most events of a batch change the same counter, which is then found without building its key. */
  #last: CounterRow | undefined

  add(event: Counted, at: Date, change: Change): void {
    const flowId = event.flowId ?? allFlows
    const last = this.#last
    if (last && isSame(last, event, flowId, +at)) addTo(last, change)
    else this.#last = sum(this.quarters, event, flowId, 'quarter', +at, change)
  }

  /** In key order, so that concurrent transactions lock the counters in one order. */
  rows(): CounterRow[] {
    const rows = new Map<string, CounterRow>()
    for (const quarter of this.quarters.values())
      for (const flowId of new Set([quarter.flowId, allFlows]))
        for (const grain of ['day', 'quarter'] as const) sum(rows, quarter, flowId, grain, +quarter.startsAt, quarter)
    return [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
  }
}

type Change = { total?: number; uniques?: number; machine?: number }

/** Whether this is the counter of the flow in the quarter-hour of the event. */
function isSame(row: CounterRow, { organizationId, eventName }: Counted, flowId: FlowId, atMs: number): boolean {
  const sinceStartMs = atMs - +row.startsAt
  return (
    sinceStartMs >= 0 &&
    sinceStartMs < grains.quarter &&
    row.eventName === eventName &&
    row.flowId === flowId &&
    row.organizationId === organizationId
  )
}

function addTo(row: CounterRow, { total = 0, uniques = 0, machine = 0 }: Change): void {
  row.total += total
  row.uniques += uniques
  row.machine += machine
}

function sum(
  rows: Map<string, CounterRow>,
  { organizationId, eventName }: Counted,
  flowId: FlowId,
  grain: keyof typeof grains,
  atMs: number,
  change: Change,
): CounterRow {
  const startsAtMs = Math.floor(atMs / grains[grain]) * grains[grain]
  const key = `${organizationId}${eventName}${flowId}${grain}${startsAtMs}`
  let row = rows.get(key)
  if (!row) {
    row = { organizationId, eventName, flowId, grain, startsAt: new Date(startsAtMs), total: 0, uniques: 0, machine: 0 }
    rows.set(key, row)
  }
  addTo(row, change)
  return row
}

export type CountersToWrite = {
  /** Those of quarters; days are added. */
  flows: readonly FlowCounterRow[]
  organizations: CounterChanges
  /** Recipients of broadcasts that were counted as sent. */
  bounced?: readonly BouncedRecipients[]
}

/**
 * Writes the counters of events, always in this order. All writers share these rows, so they are the last ones that a
 * transaction locks.
 */
export function writeCounters(tx: Tx, { flows, organizations, bounced = [] }: CountersToWrite): void {
  addToFlowCounters(tx, withDays(flows))
  addToCounters(tx, organizations.rows())
  for (const recipients of bounced) countBouncedRecipients(tx, recipients)
}
