import type { Tx } from '../db/db.ts'
import type { ContactId, OrganizationId } from '../ids.ts'

/** The contact itself. Answers its address, or undefined when there is no such contact. */
export async function deleteContact(
  tx: Tx,
  organizationId: OrganizationId,
  id: ContactId,
): Promise<string | undefined> {
  const [row] = await tx<{ emailKey: string }>`
    delete from contacts where organization_id = ${organizationId} and id = ${id} returning email_key`
  return row?.emailKey
}

export async function deleteMemberships(tx: Tx, organizationId: OrganizationId, id: ContactId): Promise<void> {
  await tx`delete from group_members where organization_id = ${organizationId} and contact_id = ${id}`
}

/** What was sent stays countable, but says nothing about the person any more; what waits to be sent never is. */
export async function emptyMessages(tx: Tx, organizationId: OrganizationId, id: ContactId): Promise<void> {
  await tx`
    with emptied as (
      update messages
      set email = '', subject = '', context = null, relay_reply = null, queue_id = null,
        status = case status when 'queued' then 'suppressed' else status end,
        reason = case status when 'queued' then 'the contact was erased' else reason end
      where organization_id = ${organizationId} and contact_id = ${id}
      returning id
    )
    delete from inbox using emptied
    where inbox.organization_id = ${organizationId} and inbox.message_id = emptied.id`
}

/**
 * The bodies and answers of deliveries to webhooks. An empty body stays empty, also when an attempt ends that was under
 * way; it is made from the event again if it is still due. Before the events are emptied.
 */
export async function emptyDeliveries(tx: Tx, organizationId: OrganizationId, id: ContactId): Promise<void> {
  await tx`
    with emptied as (
      update deliveries set body = ''
      from events
      join webhooks on webhooks.organization_id = events.organization_id
      where events.organization_id = ${organizationId} and events.contact_id = ${id}
        and deliveries.organization_id = ${organizationId} and deliveries.id = delivery_id(events.id, webhooks.id)
      returning deliveries.id
    )
    update delivery_attempts set response_body = null
    from emptied
    where delivery_attempts.organization_id = ${organizationId} and delivery_attempts.delivery_id = emptied.id`
}

/** Which events there were, and when, stays. Links and the relay's words may name the person as well as an address. */
export async function emptyEvents(tx: Tx, organizationId: OrganizationId, id: ContactId): Promise<void> {
  await tx`
    update events
    set data = (data - '{ip,user_agent,url}'::text[]) #- '{bounce,diagnostic}' #- '{bounce,evidence}'
    where organization_id = ${organizationId} and contact_id = ${id} and data <> '{}'`
}

export async function emptyImportProblems(tx: Tx, organizationId: OrganizationId, emailKey: string): Promise<void> {
  await tx`
    update import_problems set email = null, cells = null
    where organization_id = ${organizationId}
      and (lower(email collate "C") = ${emailKey} or strpos(lower(cells::text collate "C"), ${emailKey}) > 0)`
}
