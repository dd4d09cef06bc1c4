import { insertRows } from '../../platform/db/cluster/insert-rows.ts'
import type { Reader, Tx } from '../../platform/db/db.ts'
import { sql } from '../../platform/db/sql.ts'
import { areHandedOver } from '../../platform/queue/queue.ts'
import type { EventData, EventName } from '../../platform/values/event-types.ts'
import type { ContactId, EventId, FlowId, MessageId, OrganizationId } from '../../platform/values/ids.ts'
import { linkOf } from './link.ts'

export type NewEvent = {
  id: EventId
  organizationId: OrganizationId
  eventName: EventName
  occurredAt: Date
  messageId: MessageId | null
  /** Null if the event has no message. */
  flowId: FlowId | null
  contactId: ContactId
  machine: boolean
  machineReason: string | null
  /** Contains `ip` only if the organization stores IP addresses. */
  data: EventData
}

export type EventContact = { email: string; firstName: string | null }

/** Returns the contacts of events by id. Erased contacts are missing. */
export async function findContactsOf(db: Reader, events: readonly Pick<NewEvent, 'organizationId' | 'contactId'>[]) {
  const keys = [...new Map(events.map((event) => [event.contactId, event])).values()]
  const rows = await db<EventContact & { id: ContactId }>`
    select contacts.id, email, first_name
    from unnest(
      ${keys.map((key) => key.organizationId)}::uuid[],
      ${keys.map((key) => key.contactId)}::uuid[]
    ) as key (organization_id, id)
    join contacts on contacts.organization_id = key.organization_id and contacts.id = key.id`
  return new Map(rows.map((row) => [row.id, row]))
}

/** `data` as it is stored: only of few events, whose deliveries are handed to a worker of this process. */
export type InsertedEvent = { id: EventId; data?: EventData }

/**
 * Inserts events and returns those that were not recorded before. The address and name of the contact are stored as
 * well, so that the body of a webhook is the same at every attempt.
 */
export async function insertEvents(
  tx: Tx,
  events: readonly NewEvent[],
  contacts: ReadonlyMap<ContactId, EventContact>,
): Promise<InsertedEvent[]> {
  return tx<InsertedEvent>`
    insert into events (organization_id, id, event_name, occurred_at, message_id, flow_id, contact_id, machine,
      machine_reason, data, contact_email, contact_first_name, link)
    ${insertRows(
      tx,
      {
        organization_id: ['uuid', events.map((event) => event.organizationId)],
        id: ['uuid', events.map((event) => event.id)],
        event_name: ['text', events.map((event) => event.eventName)],
        occurred_at: ['timestamptz', events.map((event) => event.occurredAt)],
        message_id: ['uuid', events.map((event) => event.messageId)],
        flow_id: ['uuid', events.map((event) => event.flowId)],
        contact_id: ['uuid', events.map((event) => event.contactId)],
        machine: ['bool', events.map((event) => event.machine)],
        machine_reason: ['text', events.map((event) => event.machineReason)],
        data: [
          'text',
          events.map((event) => dataText(contacts.has(event.contactId) ? event.data : withoutPersonalData(event.data))),
        ],
        contact_email: ['text', events.map(({ contactId }) => contacts.get(contactId)?.email)],
        contact_first_name: ['text', events.map(({ contactId }) => contacts.get(contactId)?.firstName)],
        link: ['text', events.map((event) => clickedLink(event))],
      },
      `organization_id, id, event_name, occurred_at, message_id, flow_id, contact_id, machine, machine_reason,
      data::jsonb, contact_email, contact_first_name, link`,
    )}
    on conflict do nothing
    returning id ${areHandedOver(tx, events.length) ? sql`, data` : sql``}`
}

/** Returns null for events other than clicks. */
export const clickedLink = ({ eventName, data }: NewEvent): string | null =>
  eventName === 'emailClick' && data.url !== undefined ? linkOf(data.url) : null

/**
 * After a contact is erased, its old emails can still be opened and clicked. Such an event is counted, but keeps no more
 * than the erasure leaves of earlier ones.
 */
function withoutPersonalData({ ip, user_agent, url, bounce, ...rest }: EventData): EventData {
  if (!bounce) return rest
  const { diagnostic, evidence, ...kept } = bounce
  return { ...rest, bounce: kept as typeof bounce }
}

// PostgreSQL can store neither NUL nor lone surrogates, and replies from other mail servers may contain both.
const notStorable = /\\u(0000|d[89a-f])/i
const storable = (_key: string, value: unknown) =>
  typeof value === 'string' ? value.replaceAll('\0', '').replace(/\p{Surrogate}/gu, '\ufffd') : value

/** Returns the data as JSON text that PostgreSQL can store. */
function dataText(data: EventData): string {
  const text = JSON.stringify(data)
  return notStorable.test(text) ? JSON.stringify(data, storable) : text
}

/** The first human event of its kind for a message, or for a contact if the event has no message. */
export type FirstOccurrence = {
  subjectId: MessageId | ContactId
  eventName: EventName
  /** The time of the occurrence that this one replaces: it was recorded earlier, but happened later. */
  previousAt: Date | number | null
}

export type First = FirstOccurrence & { event: NewEvent }

/** A message is sent only once, so `emailSent` is always the first occurrence and needs no row. */
export const mayBeFirst = ({ machine, eventName }: NewEvent): boolean => !machine && eventName !== 'emailSent'

export const subjectOf = ({ messageId, contactId }: NewEvent) => messageId ?? contactId

/** Returns which of these events are the first occurrence for their subject. Each subject must occur once. */
export async function insertFirstOccurrences(tx: Tx, events: readonly NewEvent[]): Promise<FirstOccurrence[]> {
  return tx<FirstOccurrence>`
    insert into first_occurrences (organization_id, subject_id, event_name, flow_id, occurred_at)
    ${insertRows(tx, {
      organization_id: ['uuid', events.map((event) => event.organizationId)],
      subject_id: ['uuid', events.map(subjectOf)],
      event_name: ['text', events.map((event) => event.eventName)],
      flow_id: ['uuid', events.map((event) => event.flowId)],
      occurred_at: ['timestamptz', events.map((event) => event.occurredAt)],
    })}
    on conflict (organization_id, subject_id, event_name) do update
    set previous_at = first_occurrences.occurred_at, occurred_at = excluded.occurred_at
    where excluded.occurred_at < first_occurrences.occurred_at
    returning subject_id, event_name, previous_at`
}
