import type { Reader } from '../db/db.ts'
import { onShardsOf } from '../db/distributed.ts'
import { sql } from '../db/sql.ts'
import type { EventName } from '../values/event-types.ts'
import type { ContactId, FlowVersionId, MessageId } from '../values/ids.ts'
import { domainOf } from './flow-counters.sql.ts'
import type { NewEvent } from './record.sql.ts'

export type MessageOfEvent = {
  messageId: MessageId
  eventName: EventName
  versionId: FlowVersionId
  domain: string | null
  contactId: ContactId
  /** Null if the contact was erased. */
  email: string | null
  firstName: string | null
  /** The first occurrence that is recorded. */
  firstAt: Date | number | null
}

/**
 * Returns what is needed of the messages of events, with their contacts and first occurrences: one statement for each
 * shard, instead of three. Messages that do not exist are missing.
 */
export async function findMessagesOfEvents(db: Reader, events: readonly NewEvent[]): Promise<MessageOfEvent[]> {
  if (events.length === 0) return []
  return db<MessageOfEvent>`
    select message.id as message_id, key.event_name, message.flow_version_id as version_id,
      ${domainOf(sql`message.email`)} as domain, key.contact_id, contact.email, contact.first_name,
      first.occurred_at as first_at
    from unnest(
      ${events.map((event) => event.organizationId)}::uuid[],
      ${events.map((event) => event.messageId)}::uuid[],
      ${events.map((event) => event.contactId)}::uuid[],
      ${events.map((event) => event.eventName)}::text[]
    ) as key (organization_id, message_id, contact_id, event_name)
    join messages as message on message.organization_id = key.organization_id and message.id = key.message_id
    left join contacts as contact on contact.organization_id = message.organization_id and contact.id = key.contact_id
    left join first_occurrences as first on first.organization_id = message.organization_id
      and first.subject_id = message.id and first.event_name = key.event_name
    where true ${onShardsOf(db, events, sql`message.organization_id`)}`
}
