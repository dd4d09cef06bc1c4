import type { Reader, Tx } from '../../platform/db/db.ts'
import type { ContactChangeName, EventData } from '../../platform/values/event-types.ts'
import type { ContactId, EventId, OrganizationId } from '../../platform/values/ids.ts'

export type ChangedContact = {
  id: ContactId
  email: string
  firstName: string | null
  subscription: 'subscribed' | 'not_subscribed' | 'unsubscribed'
}

export const findChangedContacts = (db: Reader, organizationId: OrganizationId, ids: readonly ContactId[]) =>
  db<ChangedContact>`
    select id, email, first_name, subscription from contacts
    where organization_id = ${organizationId} and id = any (${ids}::uuid[])`

export type ContactChangeEvent = {
  organizationId: OrganizationId
  id: EventId
  eventName: ContactChangeName
  contact: ChangedContact
  data: EventData
}

export function insertContactChanges(
  tx: Tx,
  organizationId: OrganizationId,
  occurredAt: Date,
  events: readonly ContactChangeEvent[],
): void {
  tx.send`
    insert into events (organization_id, id, event_name, occurred_at, contact_id, data, contact_email, contact_first_name)
    select ${organizationId}::uuid, id, event_name, ${occurredAt}::timestamptz, contact_id, data::jsonb, contact_email,
      contact_first_name
    from unnest(
      ${events.map((event) => event.id)}::uuid[],
      ${events.map((event) => event.eventName)}::text[],
      ${events.map((event) => event.contact.id)}::uuid[],
      ${events.map((event) => JSON.stringify(event.data))}::text[],
      ${events.map((event) => event.contact.email)}::text[],
      ${events.map((event) => event.contact.firstName)}::text[]
    ) as event (id, event_name, contact_id, data, contact_email, contact_first_name)`
}
