import type { Reader } from '../db/db.ts'
import type { EventName } from '../values/event-types.ts'
import type { FlowId } from '../values/ids.ts'
import { type Counted, selectSums } from './counts.sql.ts'
import { type Count, countersOf, SpanSums } from './spans.ts'

/** Returns the counts between consecutive bounds for each event name and flow. */
export async function countSpans(
  db: Reader,
  counted: Counted,
  bounds: readonly number[],
): Promise<(eventName: EventName, flowId: FlowId) => Count[]> {
  const sums = new Map<string, SpanSums>()
  for (const row of await selectSums(db, counted, countersOf(bounds), bounds.length === 2)) {
    const key = `${row.eventName} ${row.flowId}`
    const known = sums.get(key) ?? new SpanSums()
    sums.set(key, known)
    known.add(row.part, row.midnight * 1000, { total: row.total, unique: row.unique, machine: row.machine })
  }
  const none = new SpanSums()
  return (eventName, flowId) => (sums.get(`${eventName} ${flowId}`) ?? none).between(bounds)
}
