import type { Reader } from '../db/db.ts'
import type { PageRequest } from '../http/paging.ts'
import type { ContactId, EventId, FlowId, MessageId, OrganizationId } from '../ids.ts'

export type TimelineEntry = {
  kind: 'message' | 'event'
  id: MessageId | EventId
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

const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** Messages and events, newest first. Ids of both are made in the order of time, so one cursor does for both. */
export async function selectTimeline(
  db: Reader,
  organizationId: OrganizationId,
  contactId: ContactId,
  { limit, cursor }: PageRequest,
): Promise<TimelineEntry[]> {
  const before = cursor?.[0] ?? lastId
  return db<TimelineEntry>`
    with entries as (
      (
        select 'message' as kind, id, queued_at as at, null as event_name, id as message_id, flow_id, status,
          false as machine, reason as detail
        from messages
        where organization_id = ${organizationId} and contact_id = ${contactId} and id < ${before}
        order by id desc
        limit ${limit + 1}
      )
      union all
      (
        select 'event', id, occurred_at, event_name, message_id, flow_id, null, machine,
          coalesce(data ->> 'url', data -> 'bounce' ->> 'reason', data ->> 'method', data ->> 'feedback_type')
        from events
        where organization_id = ${organizationId} and contact_id = ${contactId} and id < ${before}
        order by id desc
        limit ${limit + 1}
      )
      order by id desc
      limit ${limit + 1}
    )
    select entries.*, flows.name as flow_name, messages.subject
    from entries
    left join flows on flows.organization_id = ${organizationId} and flows.id = entries.flow_id
    left join messages on messages.organization_id = ${organizationId} and messages.id = entries.message_id
    order by entries.id desc`
}
