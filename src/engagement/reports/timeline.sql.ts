import type { ActorType, Change } from '../../audience/audience.ts'
import type { Reader } from '../../platform/db/db.ts'
import { type Sql, sql } from '../../platform/db/sql.ts'
import { contactChangeNames } from '../../platform/values/event-types.ts'
import {
  type ContactId,
  type FlowId,
  type GroupId,
  leastId,
  leastUuid,
  type MessageId,
  type OrganizationId,
} from '../../platform/values/ids.ts'
import type { MessageCard } from '../../sending/sending.ts'

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
  actorType: ActorType | null
  actorId: string | null
  /** Null if the user, key or import has been deleted. */
  actorName: string | null
  /** Null unless the organization stores addresses. */
  actorIp: string | null
}

/** An entry of a message, with all that happened to its email. */
export type TimelineCard = TimelineEntry & { card: MessageCard | null }

/** A position in the timeline: newest first, by time and then by id. */
type Position = { at: Date; id: string }

/** The newest entries of a contact, of those before a position. */
export type TimelinePage = {
  organizationId: OrganizationId
  contactId: ContactId
  limit: number
  before: Position | undefined
  /** Whether the events of an email are part of the entry of its message. */
  byMessage: boolean
}

/** The columns that a kind of entry has. */
type Row<Column extends keyof TimelineEntry> = Pick<TimelineEntry, 'id' | 'at' | Column>
type ActorColumn = 'actorType' | 'actorId' | 'actorIp'

const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

const isBefore = (before: Position | undefined, time: Sql, id: Sql): Sql =>
  sql`(${time}, ${id}) < (${before?.at ?? 'infinity'}, ${before?.id ?? lastId})`

/** Sorted by the time in their ids, when they were accepted, and so read in the order of their index. */
export const selectMessages = (db: Reader, { organizationId, contactId, limit, before }: TimelinePage) => db<
  Row<'flowId' | 'flowName' | 'subject' | 'status' | 'detail'>
>`
  select id, queued_at as at, flow_id, subject, reason as detail,
    case when status = 'queued' and send_at > now() then 'scheduled' else status end as status,
    (select name from flows where flows.organization_id = ${organizationId} and flows.id = messages.flow_id) as flow_name
  from messages
  where organization_id = ${organizationId} and contact_id = ${contactId} and id < ${messagesBefore(before)}
  order by id desc
  limit ${limit}`

/**
 * Sorted by when they occurred, since the id of a bounce contains the time of its message. An event takes its actor from
 * the history entry with its id. Events that only inform webhooks about changes are left out.
 */
export const selectEvents = (db: Reader, { organizationId, contactId, limit, before, byMessage }: TimelinePage) => db<
  Row<'eventName' | 'messageId' | 'flowId' | 'flowName' | 'subject' | 'machine' | 'detail' | 'evidence' | ActorColumn>
>`
  select event.*, history.actor_type, history.actor_id, history.ip as actor_ip,
    (select name from flows where flows.organization_id = ${organizationId} and flows.id = event.flow_id) as flow_name,
    (select subject from messages where messages.organization_id = ${organizationId} and messages.id = event.message_id) as subject
  from (
    select id, occurred_at as at, event_name, message_id, flow_id, machine, data -> 'bounce' ->> 'evidence' as evidence,
      coalesce(data ->> 'url', data -> 'bounce' ->> 'reason', data ->> 'method', data ->> 'feedback_type') as detail
    from events
    where organization_id = ${organizationId} and contact_id = ${contactId}
      and event_name <> all (${[...contactChangeNames]}::text[]) and ${isBefore(before, sql`occurred_at`, sql`id`)}
      -- An unsubscription also changes the contact.
      and ${byMessage ? sql`(message_id is null or event_name = 'contactUnsubscribe')` : sql`true`}
    order by occurred_at desc, id desc
    limit ${limit}
  ) as event
  left join contact_history as history on history.organization_id = ${organizationId}
    and history.contact_id = ${contactId} and history.id = event.id`

/** Changes other than the creation of the contact and its present memberships, which have their own rows. */
export const selectHistory = (db: Reader, { organizationId, contactId, limit, before }: TimelinePage) => db<
  Row<'change' | 'isSubscribed' | 'fields' | 'reasons' | 'groupId' | 'groupName' | ActorColumn>
>`
  select id, at, type as change, (details ->> 'subscribed')::bool as is_subscribed, details -> 'fields' as fields,
    details -> 'reasons' as reasons, (details ->> 'group_id')::uuid as group_id, actor_type, actor_id, ip as actor_ip,
    (select name from groups where groups.organization_id = ${organizationId}
      and groups.id = (contact_history.details ->> 'group_id')::uuid) as group_name
  from contact_history
  where organization_id = ${organizationId} and contact_id = ${contactId} and ${isBefore(before, sql`at`, sql`id`)}
    -- An entry outlives its event, which can be dropped by retention.
    and not (details ? 'is_event' and exists (
      select from events where events.organization_id = ${organizationId} and events.id = contact_history.id))
  order by at desc, id desc
  limit ${limit}`

export const selectMemberships = (db: Reader, { organizationId, contactId, limit, before }: TimelinePage) => db<
  Row<'sortedAt' | 'groupId' | 'groupName' | 'actorType' | 'actorId'>
>`
  select group_id as id, sorted_at, added_at as at, group_id, added_by_type as actor_type, added_by_id as actor_id,
    (select name from groups where groups.organization_id = ${organizationId}
      and groups.id = group_members.group_id) as group_name
  from group_members, date_trunc('milliseconds', added_at) as sorted_at
  where organization_id = ${organizationId} and contact_id = ${contactId}
    and ${isBefore(before, sql`sorted_at`, sql`group_id`)}
  order by sorted_at desc, group_id desc
  limit ${limit}`

/** The creation of the contact comes before everything else of the same millisecond. */
export const selectCreation = (db: Reader, { organizationId, contactId, before }: TimelinePage) => db<
  Row<'sortedAt' | 'isSubscribed' | 'actorType' | 'actorId'>
>`
  select first.id, sorted_at, created_at as at, created_subscribed as is_subscribed, created_by_type as actor_type,
    created_by_id as actor_id
  from contacts, date_trunc('milliseconds', created_at) as sorted_at,
    (values (${leastUuid}::uuid)) as first (id)
  where organization_id = ${organizationId} and contacts.id = ${contactId}
    and ${isBefore(before, sql`sorted_at`, sql`first.id`)}`

/** Returns the emails of users, the names of API keys and the files of imports, by id. */
export async function findActorNames(db: Reader, organizationId: OrganizationId, ids: readonly string[]) {
  const rows = await db<{ id: string; name: string }>`
    select id, email as name from users where organization_id = ${organizationId} and id = any (${ids}::uuid[])
    union all
    select id, name from api_keys where organization_id = ${organizationId} and id = any (${ids}::uuid[])
    union all
    select id, file_name from imports where organization_id = ${organizationId} and id = any (${ids}::uuid[])`
  return new Map(rows.map(({ id, name }) => [id, name]))
}

/**
 * Returns an upper bound of the message ids after a position. The position may be an event whose id has another time.
 */
function messagesBefore(position: Position | undefined): string {
  if (!position) return lastId
  const [first, next] = [leastId('msg', position.at.getTime()), leastId('msg', position.at.getTime() + 1)]
  if (position.id < first) return first
  return position.id < next ? position.id : next
}
