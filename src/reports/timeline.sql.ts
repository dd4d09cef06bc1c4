import type { Actor, Change } from '../contacts/history.ts'
import type { Reader } from '../db/db.ts'
import { sql } from '../db/sql.ts'
import { contactChangeNames } from '../values/event-types.ts'
import {
  type ContactId,
  type FlowId,
  type GroupId,
  leastId,
  leastUuid,
  type MessageId,
  type OrganizationId,
} from '../values/ids.ts'

export type TimelineEntry = {
  kind: 'message' | 'event' | 'change'
  id: string
  /** The time by which entries are sorted; `at` is the displayed time. */
  sortedAt: Date
  at: Date
  eventName: string | null
  messageId: MessageId | null
  flowId: FlowId | null
  flowName: string | null
  subject: string | null
  status: string | null
  machine: boolean
  detail: string | null
  /** The line that decided how a bounce was classified. */
  evidence: string | null
  change: Change | null
  /** Whether a contact was created as subscribed. Null for other changes, and if unknown. */
  isSubscribed: boolean | null
  fields: string[] | null
  reasons: string[] | null
  groupId: GroupId | null
  groupName: string | null
  actorType: Actor['type'] | null
  actorId: string | null
  /** Null if the user, key or import has been deleted. */
  actorName: string | null
  /** Null unless the organization stores addresses. */
  actorIp: string | null
}

/** A position in the timeline: newest first, by time and then by id. */
export type Position = { at: Date; id: string }

const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
const timeInId = sql`timestamptz 'epoch' + ('x' || left(replace(id::text, '-', ''), 12))::bit(48)::int8 * interval '1 ms'`

const noChange = sql`null::text as change, null::jsonb as details, null::uuid as group_id,
          null::text as actor_type, null::uuid as actor_id, null::text as ip`
const noMessage = sql`null::text as event_name, null::uuid as message_id, null::uuid as flow_id, null::text as status,
          false as machine, null::text as detail, null::text as evidence`

/**
 * Messages, events and changes, newest first, one more than the limit. Events are sorted by when they occurred, since the
 * id of a bounce contains the time of its message. Messages are sorted by the time in their ids, when they were accepted,
 * and so are read in the order of their index. The creation of the contact and its present memberships are read from
 * their own rows, other changes from the history. An event takes its actor from the history entry with its id. Events
 * that only inform webhooks about changes are left out.
 */
export async function selectTimeline(
  db: Reader,
  organizationId: OrganizationId,
  contactId: ContactId,
  { limit, before }: { limit: number; before: Position | undefined },
): Promise<TimelineEntry[]> {
  return db<TimelineEntry>`
    with entries as (
      (
        select 'message' as kind, id, ${timeInId} as sorted_at, queued_at as at, null as event_name, id as message_id, flow_id,
          case when status = 'queued' and send_at > now() then 'scheduled' else status end as status, false as machine,
          reason as detail, null::text as evidence, ${noChange}
        from messages
        where organization_id = ${organizationId} and contact_id = ${contactId} and id < ${messagesBefore(before)}
        order by id desc
        limit ${limit + 1}
      )
      union all
      (
        select 'event', id, occurred_at, occurred_at, event_name, message_id, flow_id, null, machine,
          coalesce(data ->> 'url', data -> 'bounce' ->> 'reason', data ->> 'method', data ->> 'feedback_type'),
          data -> 'bounce' ->> 'evidence', ${noChange}
        from events
        where organization_id = ${organizationId} and contact_id = ${contactId}
          and event_name <> all (${[...contactChangeNames]}::text[]) and (occurred_at, id) < (${before?.at ?? 'infinity'}, ${before?.id ?? lastId})
        order by occurred_at desc, id desc
        limit ${limit + 1}
      )
      union all
      (
        select 'change', id, at, at, ${noMessage}, type, details, (details ->> 'group_id')::uuid, actor_type, actor_id, ip
        from contact_history
        where organization_id = ${organizationId} and contact_id = ${contactId}
          and (at, id) < (${before?.at ?? 'infinity'}, ${before?.id ?? lastId})
          -- An entry outlives its event, which can be dropped by retention.
          and not (details ? 'is_event' and exists (
            select from events where events.organization_id = ${organizationId} and events.id = contact_history.id))
        order by at desc, id desc
        limit ${limit + 1}
      )
      union all
      (
        select 'change', group_id, sorted_at, added_at, ${noMessage}, 'group_added', null, group_id, added_by_type, added_by_id, null
        from group_members, date_trunc('milliseconds', added_at) as sorted_at
        where organization_id = ${organizationId} and contact_id = ${contactId}
          and (sorted_at, group_id) < (${before?.at ?? 'infinity'}, ${before?.id ?? lastId})
        order by sorted_at desc, group_id desc
        limit ${limit + 1}
      )
      union all
      (
        select 'change', ${leastUuid}::uuid, sorted_at, created_at, ${noMessage}, 'created',
          jsonb_build_object('subscribed', created_subscribed), null, created_by_type, created_by_id, null
        from contacts, date_trunc('milliseconds', created_at) as sorted_at
        where organization_id = ${organizationId} and id = ${contactId}
          and (sorted_at, ${leastUuid}::uuid) < (${before?.at ?? 'infinity'}, ${before?.id ?? lastId})
      )
      order by sorted_at desc, id desc
      limit ${limit + 1}
    )
    select entries.kind, entries.id, entries.sorted_at, entries.at, entries.event_name, entries.message_id, entries.flow_id,
      entries.status, entries.machine, entries.detail, entries.evidence, flows.name as flow_name, messages.subject, entries.change,
      (entries.details ->> 'subscribed')::bool as is_subscribed, entries.details -> 'fields' as fields, entries.details -> 'reasons' as reasons, entries.group_id,
      groups.name as group_name, coalesce(history.ip, entries.ip) as actor_ip, actor.type as actor_type, actor.id as actor_id,
      case actor.type
        when 'user' then (select email from users where organization_id = ${organizationId} and users.id = actor.id)
        when 'api_key' then (select name from api_keys where organization_id = ${organizationId} and api_keys.id = actor.id)
        when 'import' then
          (select file_name from imports where organization_id = ${organizationId} and imports.id = actor.id)
      end as actor_name
    from entries
    left join contact_history as history on history.organization_id = ${organizationId}
      and history.contact_id = ${contactId} and history.id = entries.id and entries.kind = 'event'
    left join groups on groups.organization_id = ${organizationId} and groups.id = entries.group_id
    cross join lateral (
      select coalesce(history.actor_type, entries.actor_type,
          case when entries.event_name = 'contactUnsubscribe' and entries.detail in ('one_click', 'page') then 'recipient' end),
        coalesce(history.actor_id, entries.actor_id)
    ) as actor (type, id)
    left join flows on flows.organization_id = ${organizationId} and flows.id = entries.flow_id
    left join messages on messages.organization_id = ${organizationId} and messages.id = entries.message_id
    order by entries.sorted_at desc, entries.id desc`
}

/**
 * Returns an upper bound of the message ids after a position, which may be that of an event whose id has another time.
 */
function messagesBefore(position: Position | undefined): string {
  if (!position) return lastId
  const [first, next] = [leastId('msg', position.at.getTime()), leastId('msg', position.at.getTime() + 1)]
  if (position.id < first) return first
  return position.id < next ? position.id : next
}
