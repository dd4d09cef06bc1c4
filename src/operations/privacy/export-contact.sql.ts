import type { ActorType } from '../../audience/audience.ts'
import type { Reader } from '../../platform/db/db.ts'
import { first } from '../../platform/db/rows.ts'
import { type Sql, sql } from '../../platform/db/sql.ts'
import type { ContactId, OrganizationId } from '../../platform/values/ids.ts'
import type { ListName } from './export-contact.shapes.ts'

/** Limits of each list. The newest rows are exported; an export that leaves out older ones names the list. */
const rowsMax = 10_000
const bytesMax = 4 * 1024 * 1024

export type ExportedContact = {
  email: string
  emailKey: string
  firstName: string | null
  lastName: string | null
  attributes: Record<string, unknown>
  subscription: string
  createdAt: Date
  updatedAt: Date
  actorType: ActorType | null
  actorId: string | null
}

export const findContactToExport = (db: Reader, organizationId: OrganizationId, id: ContactId) =>
  first(db<ExportedContact>`
    select email, email_key, first_name, last_name, attributes, subscription, created_at, updated_at,
      created_by_type as actor_type, created_by_id as actor_id
    from contacts where organization_id = ${organizationId} and id = ${id}`)

/** `ids` are the contact, and the recipient of test emails to its address. */
export type ExportKey = { organizationId: OrganizationId; id: ContactId; ids: ContactId[]; emailKey: string }

/** Selects the entries of a list, newest first, with their size in bytes. */
const newest: Record<Exclude<ListName, 'consents'>, (key: ExportKey) => Sql> = {
  groups: ({ organizationId, id }) => sql`
    select groups.id, groups.name, added_at, added_by_type as actor_type, added_by_id as actor_id, 200 as size
    from group_members join groups using (organization_id)
    where organization_id = ${organizationId} and contact_id = ${id} and groups.id = group_members.group_id
    order by added_at desc`,

  history: ({ organizationId, id }) => sql`
    select at, type as change, actor_type, actor_id, ip, details, 200 + octet_length(details::text) as size
    from contact_history where organization_id = ${organizationId} and contact_id = ${id}
    order by at desc, id desc`,

  messages: ({ organizationId, ids }) => sql`
    select messages.id, flow_id, flows.name as flow_name, email, messages.subject, context, recipient,
      case when messages.status = 'queued' and send_at > now() then 'scheduled' else messages.status end as status,
      reason, relay_reply as relay_response, is_test, queued_at, sent_at, send_at,
      contents.html, contents.text, messages.tags,
      coalesce(jsonb_path_query_array(contents.details, '$.attachments[*].filename'), '[]') as attachments,
      400 + octet_length(messages.subject) + coalesce(octet_length(context::text), 0)
        + coalesce(octet_length(recipient::text), 0) + coalesce(contents.body_bytes, 0) as size
    from messages
    left join flows on flows.organization_id = messages.organization_id and flows.id = messages.flow_id
    left join email_contents contents
      on contents.organization_id = messages.organization_id and contents.id = messages.content_id
    where messages.organization_id = ${organizationId} and contact_id = any (${ids}::uuid[])
    order by messages.id desc`,

  events: ({ organizationId, id }) => sql`
    select id, event_name, occurred_at, message_id, machine, machine_reason, contact_email, contact_first_name, data,
      200 + octet_length(data::text) as size
    from events where organization_id = ${organizationId} and contact_id = ${id}
    order by occurred_at desc`,

  // The ids of deliveries follow from those of the events, see `delivery_id`.
  webhook_deliveries: ({ organizationId, id }) => sql`
    select deliveries.id, webhooks.id as webhook_id, webhooks.url, event_id, deliveries.event_name,
      deliveries.status, nullif(body, '') as body, deliveries.created_at, delivered_at,
      400 + coalesce(octet_length(body), 0) as size
    from events
    join webhooks on webhooks.organization_id = events.organization_id
    join deliveries on deliveries.organization_id = events.organization_id
      and deliveries.id = delivery_id(events.id, webhooks.id)
    where events.organization_id = ${organizationId} and events.contact_id = ${id}
    order by events.occurred_at desc`,

  suppressions: ({ organizationId, emailKey }) => sql`
    select email, reason, detail, message_id, created_at, 200 as size
    from suppressions where organization_id = ${organizationId} and email_key = ${emailKey}
    order by created_at desc`,

  inbox: ({ organizationId, ids }) => sql`
    select inbox.message_id, inbox.sender as from, inbox.recipient as to, inbox.received_at, inbox.raw,
      200 + octet_length(raw) as size
    from messages
    join inbox on inbox.organization_id = messages.organization_id and inbox.message_id = messages.id
    where messages.organization_id = ${organizationId} and contact_id = any (${ids}::uuid[])
    order by messages.id desc`,

  rejected_import_rows: ({ organizationId, emailKey }) => sql`
    select import_id, line, email, cells, problem, 200 + coalesce(octet_length(cells::text), 0) as size
    from import_problems where organization_id = ${organizationId} and lower(email collate "C") = ${emailKey}
    order by import_id desc, line desc`,
}

/** The newest rows within the limits, and whether there are more. */
export type Bounded = { rows: unknown[]; isTruncated: boolean }

/** Always returns the first row, even if it is too large. */
export async function selectNewest(db: Reader, name: keyof typeof newest, key: ExportKey): Promise<Bounded> {
  const rows = await db.run<{ found: number }>(sql`
    select * from (
      select newest.*, count(*) over () as found, row_number() over () as number,
        sum(size) over (rows unbounded preceding) as size_so_far
      from (${newest[name](key)} limit ${rowsMax + 1}) as newest
    ) as sized
    where number = 1 or (number <= ${rowsMax} and size_so_far <= ${bytesMax})
    order by number`)
  return { rows, isTruncated: rows.length < (rows[0]?.found ?? 0) }
}
