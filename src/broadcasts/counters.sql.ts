import type { Reader } from '../db/db.ts'
import { dayMs } from '../values/durations.ts'
import type { EventName } from '../values/event-types.ts'
import type { BroadcastId, OrganizationId } from '../values/ids.ts'
import type { Broadcast } from './broadcasts.sql.ts'

export type Counters = { opened: number; clicked: number; unsubscribed: number; complained: number }

/**
 * Returns the results of broadcasts that are counted with their events, so that a list needs no count of recipients. A
 * broadcast without events is missing. The counters of a flow are read once, from the start of its oldest broadcast.
 */
export async function selectCounters(
  db: Reader,
  organizationId: OrganizationId,
  broadcasts: readonly Pick<Broadcast, 'id' | 'flowId' | 'startedAt'>[],
): Promise<ReadonlyMap<BroadcastId, Counters>> {
  const started = broadcasts.filter(({ flowId, startedAt }) => flowId && startedAt)
  if (started.length === 0) return new Map()
  const since = new Date(Math.min(...started.map(({ startedAt }) => startedAt!.getTime())) - dayMs)
  const rows = await db<{ id: BroadcastId; uniques: Partial<Record<EventName, number>> }>`
    select id, jsonb_object_agg(event_name, uniques) as uniques
    from (
      select value as id, event_name, sum(uniques) as uniques
      from flow_counters
      where organization_id = ${organizationId} and flow_id = any (${started.map(({ flowId }) => flowId)}::uuid[])
        and grain = 'day' and kind = 'broadcast' and starts_at >= ${since}
        and value = any (${started.map(({ id }) => id)}::text[])
      group by 1, 2
    ) as counter
    group by id`
  return new Map(
    rows.map(({ id, uniques }) => [
      id,
      {
        opened: uniques.emailOpen ?? 0,
        clicked: uniques.emailClick ?? 0,
        unsubscribed: uniques.contactUnsubscribe ?? 0,
        complained: uniques.emailComplaint ?? 0,
      },
    ]),
  )
}
