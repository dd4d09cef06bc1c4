import type { ActorType, Change } from '../contacts/history.ts'
import type { Reader } from '../db/db.ts'
import { first } from '../db/rows.ts'
import { type Sql, sql } from '../db/sql.ts'
import type {
  ContactId,
  DeliveryId,
  EventId,
  FlowId,
  GroupId,
  ImportId,
  MessageId,
  OrganizationId,
  WebhookId,
} from '../values/ids.ts'

/** Limits of each list. The newest rows are exported; an export that leaves out older ones names the list. */
const rowsMax = 10_000
const bytesMax = 4 * 1024 * 1024

/** The newest rows within the limits, and whether there are more. */
export type Bounded<Row> = { rows: Row[]; isTruncated: boolean }

/** `newest` selects one row more than the limit, newest first, with its `size` in bytes. The first row is always returned. */
async function bounded<Row>(db: Reader, newest: Sql): Promise<Bounded<Row>> {
  const rows = await db.run<Row & { found: number }>(sql`
    select * from (
      select newest.*, count(*) over () as found, row_number() over () as number,
        sum(size) over (rows unbounded preceding) as size_so_far
      from (${newest} limit ${rowsMax + 1}) as newest
    ) as sized
    where number = 1 or (number <= ${rowsMax} and size_so_far <= ${bytesMax})
    order by number`)
  return { rows, isTruncated: rows.length < (rows[0]?.found ?? 0) }
}

export type ExportedContact = {
  email: string
  emailKey: string
  firstName: string | null
  lastName: string | null
  attributes: Record<string, unknown>
  subscription: string
  createdAt: Date
  updatedAt: Date
  createdByType: ActorType | null
  createdById: string | null
}

export const findContactToExport = (db: Reader, organizationId: OrganizationId, id: ContactId) =>
  first(db<ExportedContact>`
    select email, email_key, first_name, last_name, attributes, subscription, created_at, updated_at, created_by_type,
      created_by_id
    from contacts where organization_id = ${organizationId} and id = ${id}`)

export type ExportedGroup = {
  id: GroupId
  name: string
  addedAt: Date
  addedByType: ActorType | null
  addedById: string | null
}

export const selectGroupsToExport = (db: Reader, organizationId: OrganizationId, id: ContactId) =>
  bounded<ExportedGroup>(
    db,
    sql`select groups.id, groups.name, added_at, added_by_type, added_by_id, 200 as size
      from group_members join groups using (organization_id)
      where organization_id = ${organizationId} and contact_id = ${id} and groups.id = group_members.group_id
      order by added_at desc`,
  )

export type ExportedChange = {
  at: Date
  type: Change
  actorType: ActorType
  actorId: string | null
  ip: string | null
  details: { fields?: string[]; reasons?: string[]; group_id?: GroupId }
}

export const selectHistoryToExport = (db: Reader, organizationId: OrganizationId, id: ContactId) =>
  bounded<ExportedChange>(
    db,
    sql`select at, type, actor_type, actor_id, ip, details, 200 + octet_length(details::text) as size
      from contact_history where organization_id = ${organizationId} and contact_id = ${id}
      order by at desc, id desc`,
  )

export type ExportedMessage = {
  id: MessageId
  flowId: FlowId
  flowName: string | null
  email: string
  subject: string
  context: Record<string, unknown> | null
  recipient: Record<string, unknown> | null
  status: string
  reason: string | null
  relayReply: string | null
  isTest: boolean
  queuedAt: Date
  sentAt: Date | null
  sendAt: Date | null
}

export const selectMessagesToExport = (db: Reader, organizationId: OrganizationId, ids: readonly ContactId[]) =>
  bounded<ExportedMessage>(
    db,
    sql`select messages.id, flow_id, flows.name as flow_name, email, messages.subject, context, recipient,
        case when messages.status = 'queued' and send_at > now() then 'scheduled' else messages.status end as status,
        reason, relay_reply, is_test, queued_at, sent_at, send_at,
        400 + octet_length(messages.subject) + coalesce(octet_length(context::text), 0)
          + coalesce(octet_length(recipient::text), 0) as size
      from messages
      left join flows on flows.organization_id = messages.organization_id and flows.id = messages.flow_id
      where messages.organization_id = ${organizationId} and contact_id = any (${ids}::uuid[])
      order by messages.id desc`,
  )

export type ExportedEvent = {
  id: EventId
  eventName: string
  occurredAt: Date
  messageId: MessageId | null
  machine: boolean
  machineReason: string | null
  contactEmail: string | null
  contactFirstName: string | null
  data: Record<string, unknown>
}

export const selectEventsToExport = (db: Reader, organizationId: OrganizationId, id: ContactId) =>
  bounded<ExportedEvent>(
    db,
    sql`select id, event_name, occurred_at, message_id, machine, machine_reason, contact_email, contact_first_name, data,
        200 + octet_length(data::text) as size
      from events where organization_id = ${organizationId} and contact_id = ${id}
      order by occurred_at desc`,
  )

export type ExportedDelivery = {
  id: DeliveryId
  webhookId: WebhookId
  url: string
  eventId: EventId
  eventName: string
  status: string
  body: string | null
  createdAt: Date
  deliveredAt: Date | null
}

/** The ids of deliveries follow from those of the events, see `delivery_id`. */
export const selectDeliveriesToExport = (db: Reader, organizationId: OrganizationId, id: ContactId) =>
  bounded<ExportedDelivery>(
    db,
    sql`select deliveries.id, webhooks.id as webhook_id, webhooks.url, event_id, deliveries.event_name,
        deliveries.status, nullif(body, '') as body, deliveries.created_at, delivered_at,
        400 + coalesce(octet_length(body), 0) as size
      from events
      join webhooks on webhooks.organization_id = events.organization_id
      join deliveries on deliveries.organization_id = events.organization_id
        and deliveries.id = delivery_id(events.id, webhooks.id)
      where events.organization_id = ${organizationId} and events.contact_id = ${id}
      order by events.occurred_at desc`,
  )

export type ExportedSuppression = {
  email: string
  reason: string
  detail: string | null
  messageId: MessageId | null
  createdAt: Date
}

export const selectSuppressionsToExport = (db: Reader, organizationId: OrganizationId, emailKey: string) =>
  bounded<ExportedSuppression>(
    db,
    sql`select email, reason, detail, message_id, created_at, 200 as size
      from suppressions where organization_id = ${organizationId} and email_key = ${emailKey}
      order by created_at desc`,
  )

export type ExportedInboxEmail = {
  messageId: MessageId
  sender: string
  recipient: string
  receivedAt: Date
  raw: Buffer
}

export const selectInboxToExport = (db: Reader, organizationId: OrganizationId, ids: readonly ContactId[]) =>
  bounded<ExportedInboxEmail>(
    db,
    sql`select inbox.message_id, inbox.sender, inbox.recipient, inbox.received_at, inbox.raw,
        200 + octet_length(raw) as size
      from messages
      join inbox on inbox.organization_id = messages.organization_id and inbox.message_id = messages.id
      where messages.organization_id = ${organizationId} and contact_id = any (${ids}::uuid[])
      order by messages.id desc`,
  )

export type ExportedImportRow = {
  importId: ImportId
  line: number
  email: string | null
  cells: string[] | null
  problem: string
}

export const selectImportRowsToExport = (db: Reader, organizationId: OrganizationId, emailKey: string) =>
  bounded<ExportedImportRow>(
    db,
    sql`select import_id, line, email, cells, problem, 200 + coalesce(octet_length(cells::text), 0) as size
      from import_problems where organization_id = ${organizationId} and lower(email collate "C") = ${emailKey}
      order by import_id desc, line desc`,
  )
