import type { RecipientSnapshot } from '../../content/content.ts'
import type { Reader } from '../../platform/db/db.ts'
import { first } from '../../platform/db/rows.ts'
import { sql } from '../../platform/db/sql.ts'
import type { EventData, EventName } from '../../platform/values/event-types.ts'
import type {
  BroadcastId,
  ContactId,
  EmailId,
  EventId,
  FlowId,
  FlowVersionId,
  MailServerId,
  MessageId,
  OrganizationId,
} from '../../platform/values/ids.ts'
import type { Tag } from '../attachments/content.ts'
import { type MessageFilter, type MessageStatus, matchingMessages } from './message-filter.sql.ts'
import { reactionTo } from './reactions.ts'

export type MessageRow = {
  organizationId: OrganizationId
  id: MessageId
  flowId: FlowId
  flowName: string | null
  contactId: ContactId
  email: string
  subject: string
  status: MessageStatus
  reason: string | null
  queuedAt: Date
  sentAt: Date | null
  /** The time for which the email is or was scheduled. */
  sendAt: Date | null
  isTest: boolean
  relayReply: string | null
  broadcastId: BroadcastId | null
  broadcastName: string | null
  firstOpenedAt: Date | null
  firstClickedAt: Date | null
  complainedAt: Date | null
  unsubscribedAt: Date | null
}

// A scheduled message is stored as queued: its job is not due before its time.
const columnsOf = (organizationId: OrganizationId) => sql`
  messages.organization_id, messages.id, messages.flow_id, flows.name as flow_name, messages.contact_id,
  messages.email, messages.subject,
  case when messages.status = 'queued' and messages.send_at > now() then 'scheduled' else messages.status end as status,
  messages.reason, messages.queued_at, messages.sent_at, messages.send_at, messages.is_test, messages.relay_reply,
  messages.broadcast_id, reaction.*, (
    select name from broadcasts
    where broadcasts.organization_id = ${organizationId} and broadcasts.id = messages.broadcast_id) as broadcast_name`

/** Newest first. */
export const selectMessages = (db: Reader, organizationId: OrganizationId, filter: MessageFilter, limit: number) =>
  db<MessageRow>`
    select ${columnsOf(organizationId)}
    from (${matchingMessages(organizationId, filter)} limit ${limit}) as messages
    left join flows on flows.organization_id = ${organizationId} and flows.id = messages.flow_id
    cross join ${reactionTo(organizationId, sql`messages.id`)}
    order by messages.id desc`

export type MessageDetail = MessageRow & {
  flowVersionId: FlowVersionId
  /** Null for the test of a draft. */
  flowVersion: number | null
  flowKind: 'transactional' | 'marketing'
  context: Record<string, unknown> | null
  fromName: string | null
  fromEmail: string | null
  recipient: RecipientSnapshot | null
  contentId: EmailId | null
  tags: Tag[] | null
  /** Whether it was sent without a flow. */
  isBuiltIn: boolean
  mailServerId: MailServerId | null
  /** Null if the mail server was deleted since. */
  mailServerName: string | null
}

export const findMessage = (db: Reader, organizationId: OrganizationId, id: MessageId) =>
  first(db<MessageDetail>`
    select ${columnsOf(organizationId)}, messages.flow_version_id, versions.number as flow_version, coalesce(versions.kind, flows.kind) as flow_kind, messages.context,
      versions.from_name, versions.from_email, messages.recipient, messages.content_id, messages.tags,
      flows.is_built_in, messages.mail_server_id, mail_servers.name as mail_server_name
    from messages
    join flows on flows.organization_id = messages.organization_id and flows.id = messages.flow_id
    join flow_versions versions on versions.organization_id = messages.organization_id and versions.id = messages.flow_version_id
    left join mail_servers on mail_servers.organization_id = messages.organization_id and mail_servers.id = messages.mail_server_id
    cross join ${reactionTo(organizationId, sql`messages.id`)}
    where messages.organization_id = ${organizationId} and messages.id = ${id}`)

export type MessageEvent = {
  messageId: MessageId
  id: EventId
  eventName: EventName
  occurredAt: Date
  machine: boolean
  machineReason: string | null
  data: EventData
}

const eventsPerMessageMax = 200

/** Returns the events of several messages, oldest first, through the index on contacts. */
export const selectEventsOf = (
  db: Reader,
  organizationId: OrganizationId,
  messages: readonly Pick<MessageRow, 'id' | 'contactId'>[],
) =>
  db<MessageEvent>`
    select event.*
    from unnest(${messages.map(({ id }) => id)}::uuid[], ${messages.map(({ contactId }) => contactId)}::uuid[]) as message (id, contact_id)
    cross join lateral (
      select message_id, events.id, event_name, occurred_at, machine, machine_reason, data
      from events
      where events.organization_id = ${organizationId} and events.contact_id = message.contact_id and message_id = message.id
      order by occurred_at, events.id
      limit ${eventsPerMessageMax}
    ) as event`
