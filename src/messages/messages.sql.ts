import { storedText } from '../contacts/stored-address.ts'
import { containsInAnyCase } from '../db/any-case.ts'
import type { Reader } from '../db/db.ts'
import { first } from '../db/rows.ts'
import { and, type Sql, sql } from '../db/sql.ts'
import type { Tag } from '../email-contents/content.ts'
import type { RecipientSnapshot } from '../flows/recipient.ts'
import type { EventData, EventName } from '../values/event-types.ts'
import {
  type ContactId,
  type EmailId,
  type EventId,
  type FlowId,
  type FlowVersionId,
  type MailServerId,
  type MessageId,
  type OrganizationId,
  parseId,
} from '../values/ids.ts'

export const messageStatuses = ['queued', 'scheduled', 'sent', 'bounced', 'suppressed', 'failed', 'cancelled'] as const
type MessageStatus = (typeof messageStatuses)[number]

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
}

// A scheduled message is stored as queued: its job is not due before its time.
const columns = sql`messages.organization_id, messages.id, messages.flow_id, flows.name as flow_name, messages.contact_id,
  messages.email, messages.subject,
  case when messages.status = 'queued' and messages.send_at > now() then 'scheduled' else messages.status end as status,
  messages.reason, messages.queued_at, messages.sent_at, messages.send_at, messages.is_test, messages.relay_reply`

export type MessageFilter = {
  status?: MessageStatus | undefined
  flowId?: FlowId | undefined
  contactId?: ContactId | undefined
  isTest?: boolean | undefined
  query?: string | undefined
  before?: MessageId | undefined
  limit: number
}

/** Newest first. */
export async function selectMessages(
  db: Reader,
  organizationId: OrganizationId,
  filter: MessageFilter,
): Promise<MessageRow[]> {
  const conditions = [
    sql`messages.organization_id = ${organizationId}`,
    ...(filter.status ? [hasStatus(filter.status)] : []),
    ...(filter.flowId ? [sql`messages.flow_id = ${filter.flowId}`] : []),
    ...(filter.contactId ? [sql`messages.contact_id = ${filter.contactId}`] : []),
    ...(filter.isTest === undefined ? [] : [filter.isTest ? sql`messages.is_test` : sql`not messages.is_test`]),
    ...(filter.query ? [matchesQuery(organizationId, filter.query)] : []),
    ...(filter.before ? [sql`messages.id < ${filter.before}`] : []),
  ]
  return db<MessageRow>`
    select ${columns}
    from messages
    left join flows on flows.organization_id = messages.organization_id and flows.id = messages.flow_id
    where ${and(conditions)}
    order by messages.id desc
    limit ${filter.limit}`
}

function hasStatus(status: MessageStatus): Sql {
  if (status === 'scheduled') return sql`messages.status = 'queued' and messages.send_at > now()`
  if (status === 'queued')
    return sql`messages.status = 'queued' and (messages.send_at is null or messages.send_at <= now())`
  return sql`messages.status = ${status}`
}

/** The text is the id of a message, contact, flow or event, or occurs in the address or the subject. */
function matchesQuery(organizationId: OrganizationId, query: string): Sql {
  const text = query.trim().toLowerCase()
  const [id, contactId, flowId] = [parseId('msg', text), parseId('con', text), parseId('flw', text)]
  if (id) return sql`messages.id = ${id}`
  if (contactId) return sql`messages.contact_id = ${contactId}`
  if (flowId) return sql`messages.flow_id = ${flowId}`
  const eventId = parseId('evt', text)
  if (eventId)
    return sql`messages.id = (
      select message_id from events where events.organization_id = ${organizationId} and events.id = ${eventId})`
  return sql`(${containsInAnyCase(sql`messages.email`, storedText(query))} or ${containsInAnyCase(sql`messages.subject`, query)})`
}

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
    select ${columns}, messages.flow_version_id, versions.number as flow_version, coalesce(versions.kind, flows.kind) as flow_kind, messages.context,
      versions.from_name, versions.from_email, messages.recipient, messages.content_id, messages.tags,
      flows.is_built_in, messages.mail_server_id, mail_servers.name as mail_server_name
    from messages
    join flows on flows.organization_id = messages.organization_id and flows.id = messages.flow_id
    join flow_versions versions on versions.organization_id = messages.organization_id and versions.id = messages.flow_version_id
    left join mail_servers on mail_servers.organization_id = messages.organization_id and mail_servers.id = messages.mail_server_id
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
export const selectEventsOf = (db: Reader, organizationId: OrganizationId, messages: MessageRow[]) =>
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
