import { insertRows } from '../../platform/db/cluster/insert-rows.ts'
import type { Tx } from '../../platform/db/db.ts'
import type { EventName } from '../../platform/values/event-types.ts'
import type { FlowId, OrganizationId } from '../../platform/values/ids.ts'

/** What is counted: events, and emails that bounced after they were sent or instead of it (`returned.ts`). */
export type CounterName = EventName | 'emailReturned' | 'emailRejected'

export type CounterRow = {
  organizationId: OrganizationId
  eventName: CounterName
  flowId: FlowId
  grain: 'day' | 'quarter'
  startsAt: Date
  total: number
  uniques: number
  machine: number
}

/** The rows must be in key order. */
export function addToCounters(tx: Tx, rows: readonly CounterRow[]): void {
  if (rows.length === 0) return
  tx.send`
    insert into event_counters (organization_id, event_name, flow_id, grain, starts_at, total, uniques, machine)
    ${insertRows(tx, {
      organization_id: ['uuid', rows.map((row) => row.organizationId)],
      event_name: ['text', rows.map((row) => row.eventName)],
      flow_id: ['uuid', rows.map((row) => row.flowId)],
      grain: ['text', rows.map((row) => row.grain)],
      starts_at: ['timestamptz', rows.map((row) => row.startsAt)],
      total: ['int8', rows.map((row) => row.total)],
      uniques: ['int8', rows.map((row) => row.uniques)],
      machine: ['int8', rows.map((row) => row.machine)],
    })}
    on conflict (organization_id, event_name, flow_id, grain, starts_at) do update
    set total = event_counters.total + excluded.total,
      uniques = event_counters.uniques + excluded.uniques,
      machine = event_counters.machine + excluded.machine`
}
