import type { Tx } from '../../platform/db/db.ts'
import { allValues, firstValue } from '../../platform/db/rows.ts'
import type { ContactId, DeliveryId, EmailId, OrganizationId } from '../../platform/values/ids.ts'

/** Returns the address key of the deleted contact, or undefined if it does not exist. */
export const deleteContact = (tx: Tx, organizationId: OrganizationId, id: ContactId) =>
  firstValue(tx<{ emailKey: string }>`
    delete from contacts where organization_id = ${organizationId} and id = ${id} returning email_key`)

export const deleteMemberships = (tx: Tx, organizationId: OrganizationId, id: ContactId) =>
  tx`delete from group_members where organization_id = ${organizationId} and contact_id = ${id}`

export const deleteHistory = (tx: Tx, organizationId: OrganizationId, id: ContactId) =>
  tx`delete from contact_history where organization_id = ${organizationId} and contact_id = ${id}`

export const deleteImportChangesOf = (tx: Tx, organizationId: OrganizationId, id: ContactId) =>
  tx`delete from import_changes where organization_id = ${organizationId} and contact_id = ${id}`

/** Returns the contents of the contact's messages. */
export const selectContentsOf = (tx: Tx, organizationId: OrganizationId, ids: readonly ContactId[]) =>
  allValues(tx<{ contentId: EmailId }>`
    select distinct content_id from messages
    where organization_id = ${organizationId} and contact_id = any (${ids}::uuid[]) and content_id is not null`)

/** Removes personal data from the contact's messages, which stay countable. Queued messages are never sent. */
export async function emptyMessages(tx: Tx, organizationId: OrganizationId, ids: readonly ContactId[]): Promise<void> {
  await tx`
    update messages
    set email = '', subject = '', context = null, recipient = null, relay_reply = null, queue_id = null,
      content_id = null, tags = null,
      status = case when status = 'queued' then 'suppressed' else status end,
      reason = case when status = 'queued' then 'the contact was erased' else reason end
    where organization_id = ${organizationId} and contact_id = any (${ids}::uuid[])`
  await tx`
    delete from inbox using messages
    where inbox.organization_id = ${organizationId} and messages.organization_id = ${organizationId}
      and messages.contact_id = any (${ids}::uuid[]) and inbox.message_id = messages.id`
}

/**
 * Removes the bodies and responses of webhook deliveries. An empty body stays empty when an attempt in flight ends; it is
 * built again from the event if the delivery is still due. Must run before the events are emptied.
 */
export async function emptyDeliveries(tx: Tx, organizationId: OrganizationId, ids: readonly ContactId[]) {
  const emptied = await tx<{ id: DeliveryId }>`
    update deliveries set body = ''
    from events
    join webhooks on webhooks.organization_id = events.organization_id
    where events.organization_id = ${organizationId} and events.contact_id = any (${ids}::uuid[])
      and deliveries.organization_id = ${organizationId} and deliveries.id = delivery_id(events.id, webhooks.id)
    returning deliveries.id`
  await tx`
    update delivery_attempts set response_body = null
    where organization_id = ${organizationId} and delivery_id = any (${emptied.map((delivery) => delivery.id)}::uuid[])`
}

/** Events and their times stay. Links and diagnostics are removed, since they may contain personal data. */
export const emptyEvents = (tx: Tx, organizationId: OrganizationId, ids: readonly ContactId[]) =>
  tx`
    update events
    set data = (data - '{ip,user_agent,url,tags}'::text[]) #- '{bounce,diagnostic}' #- '{bounce,evidence}',
      contact_email = null, contact_first_name = null
    where organization_id = ${organizationId} and contact_id = any (${ids}::uuid[])`

export const emptyImportProblems = (tx: Tx, organizationId: OrganizationId, emailKey: string) =>
  tx`
    update import_problems set email = null, cells = null
    where organization_id = ${organizationId}
      and (lower(email collate "C") = ${emailKey} or strpos(lower(cells::text collate "C"), ${emailKey}) > 0)`

/**
 * Removes what requests and their responses contained, if it mentions the address. The columns are joined by `||`: `concat_ws` is not
 * immutable, and Citus rejects it here.
 */
export const emptyApiRequests = (tx: Tx, organizationId: OrganizationId, emailKey: string) =>
  tx`
    update api_requests set path = route, error_message = null, error_fields = null, query = null, body = null,
      response = null
    where organization_id = ${organizationId}
      and strpos(lower((path || ' ' || coalesce(error_message, '') || ' ' || coalesce(error_fields::text, '') || ' ' ||
        coalesce(query, '') || ' ' || coalesce(body, '') || ' ' || coalesce(response, '')) collate "C"), ${emailKey}) > 0`
