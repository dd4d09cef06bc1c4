import type { Reader } from '../../platform/db/db.ts'
import type { ContactId, EventId, MessageId, OrganizationId } from '../../platform/values/ids.ts'
import type { ActorType } from './history.ts'

/** How many entries are returned at most; a contact rarely has more than two. */
const entriesMax = 1_000

export type Consent = {
  at: Date
  action: 'subscribed' | 'unsubscribed'
  /** Null if unknown: contacts and events from before actors were recorded. */
  actorType: ActorType | null
  actorId: string | null
  /** The email of a user, the name of an API key or the file of an import; null if it was deleted. */
  actorName: string | null
  ip: string | null
  /** Of an unsubscription with an event. */
  method: string | null
  eventId: EventId | null
  messageId: MessageId | null
}

/**
 * Every subscription and unsubscription of a contact, newest first: from its creation, its history and, for those from
 * before the history was kept, its events. Entries outlive the retention of events.
 */
export const selectConsents = (db: Reader, organizationId: OrganizationId, contactId: ContactId) =>
  db<Consent>`
    with unsubscriptions as materialized (
      select id, occurred_at, message_id, data ->> 'method' as method from events
      where organization_id = ${organizationId} and contact_id = ${contactId} and event_name = 'contactUnsubscribe'
      order by occurred_at desc
      limit ${entriesMax}
    ),
    entries as (
      select created_at as at, 'subscribed' as action, created_by_type as actor_type, created_by_id as actor_id,
        null as ip, null as method, null::uuid as event_id, null::uuid as message_id
      from contacts
      where organization_id = ${organizationId} and id = ${contactId} and created_subscribed
      union all
      select history.at, history.type, history.actor_type, history.actor_id, history.ip, unsubscriptions.method,
        case when history.details ? 'is_event' then history.id end, unsubscriptions.message_id
      from contact_history as history
      left join unsubscriptions on unsubscriptions.id = history.id
      where history.organization_id = ${organizationId} and history.contact_id = ${contactId}
        and history.type in ('subscribed', 'unsubscribed')
      union all
      select occurred_at, 'unsubscribed', case when method in ('one_click', 'page') then 'recipient' end, null, null, method,
        id, message_id
      from unsubscriptions
      where not exists (
        select from contact_history as history
        where history.organization_id = ${organizationId} and history.contact_id = ${contactId}
          and history.id = unsubscriptions.id)
    )
    select entries.*,
      case actor_type
        when 'user' then (select email from users where organization_id = ${organizationId} and id = actor_id)
        when 'api_key' then (select name from api_keys where organization_id = ${organizationId} and id = actor_id)
        when 'import' then (select file_name from imports where organization_id = ${organizationId} and id = actor_id)
      end as actor_name
    from entries
    order by at desc, action
    limit ${entriesMax}`
