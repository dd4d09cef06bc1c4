import type { Reader } from '../db/db.ts'
import { sql } from '../db/sql.ts'
import { type ContactId, type EventId, type FlowId, leastId, type MessageId, type OrganizationId } from '../ids.ts'

export type TimelineEntry = {
  kind: 'message' | 'event'
  id: MessageId | EventId
  /** By what it is sorted, and `at` what it tells. */
  place: Date
  at: Date
  eventName: string | null
  messageId: MessageId | null
  flowId: FlowId | null
  flowName: string | null
  subject: string | null
  status: string | null
  machine: boolean
  detail: string | null
}

/** A place in the timeline: newest first, by time and then by id. */
export type Place = { at: Date; id: string }

const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
const timeInId = sql`timestamptz 'epoch' + ('x' || left(replace(id::text, '-', ''), 12))::bit(48)::int8 * interval '1 ms'`

/**
 * Messages and events, newest first, one more than the limit. Events stand by when they occurred: the id of a bounce has
 * the time of its mail. Messages stand by the time in their ids, which is that of accepting them, and so are read from
 * the index that has them by id.
 */
export async function selectTimeline(
  db: Reader,
  organizationId: OrganizationId,
  contactId: ContactId,
  { limit, before }: { limit: number; before: Place | undefined },
): Promise<TimelineEntry[]> {
  return db<TimelineEntry>`
    with entries as (
      (
        select 'message' as kind, id, ${timeInId} as place, queued_at as at, null as event_name, id as message_id, flow_id,
          status, false as machine, reason as detail
        from messages
        where organization_id = ${organizationId} and contact_id = ${contactId} and id < ${messagesBefore(before)}
        order by id desc
        limit ${limit + 1}
      )
      union all
      (
        select 'event', id, occurred_at, occurred_at, event_name, message_id, flow_id, null, machine,
          coalesce(data ->> 'url', data -> 'bounce' ->> 'reason', data ->> 'method', data ->> 'feedback_type')
        from events
        where organization_id = ${organizationId} and contact_id = ${contactId}
          and (occurred_at, id) < (${before?.at ?? 'infinity'}, ${before?.id ?? lastId})
        order by occurred_at desc, id desc
        limit ${limit + 1}
      )
      order by place desc, id desc
      limit ${limit + 1}
    )
    select entries.*, flows.name as flow_name, messages.subject
    from entries
    left join flows on flows.organization_id = ${organizationId} and flows.id = entries.flow_id
    left join messages on messages.organization_id = ${organizationId} and messages.id = entries.message_id
    order by entries.place desc, entries.id desc`
}

/** The ids of the messages behind a place, which may be that of an event whose id has another time. */
function messagesBefore(place: Place | undefined): string {
  if (!place) return lastId
  const [first, next] = [leastId('msg', place.at.getTime()), leastId('msg', place.at.getTime() + 1)]
  if (place.id < first) return first
  return place.id < next ? place.id : next
}
