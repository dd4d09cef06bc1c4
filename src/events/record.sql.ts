import type { Writer } from '../db/db.ts'
import { list, type Sql, sql } from '../db/sql.ts'
import type { EventData, EventName } from '../values/event-types.ts'
import type { ContactId, EventId, FlowId, MessageId, OrganizationId } from '../values/ids.ts'
import { fanOut } from '../webhooks/fan-out.ts'
import { countChanges } from './counters.sql.ts'

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

export type Inserted = {
  /** The events that were new; undefined if all were. */
  newIds: ReadonlySet<EventId> | undefined
  /** New human clicks, except the first one on a message if it is in this batch. */
  laterClickIds: ReadonlySet<EventId>
  /** Whether deliveries to webhooks were created. */
  fannedOut: boolean
}

/**
 * The parts of a statement that also records events: CTEs that come first, the source of the events, and the CTE that
 * updates `messages`, if any.
 */
export type StatementParts = { ctes: Sql; source: Sql; messagesChanged: Sql | undefined }

/**
 * Writes events and everything that follows from them in one statement. All further changes are derived from the rows
 * actually inserted, so recording an event twice has no effect. Shared rows are locked in key order to avoid deadlocks.
 */
export function insertEvents(db: Writer, events: NewEvent[]): Promise<Inserted> {
  return insertEventsAfter(db, events, {
    ctes: given(events),
    source: sql`select * from given`,
    messagesChanged: events.some(({ eventName }) => namesOfSending.has(eventName)) ? messageStates : undefined,
  })
}

/**
 * Like `insertEvents`, at the end of a statement that does more, such as settling the job that caused the event. Only
 * the names of `events` are used: CTEs that cannot apply to them are omitted, because each CTE costs about a tenth of
 * the statement even if it has no rows to process.
 */
export async function insertEventsAfter(
  db: Writer,
  events: readonly Pick<NewEvent, 'eventName'>[],
  { ctes, source, messagesChanged }: StatementParts,
): Promise<Inserted> {
  const suppresses = events.some(({ eventName }) => suppressingNames.has(eventName))
  // A message is sent only once, so its event is always the first occurrence and needs no row in first_occurrences.
  const allHappenOnce = events.every(({ eventName }) => eventName === 'emailSent')
  const consequences = [countChanges, messagesChanged, suppresses ? suppressed : undefined, fanOut]
  const [row] = await db<{ newIds: EventId[] | null; laterClickIds: EventId[] | null; fannedOut: boolean }>`
    with ${ctes},
    ${recorded(source)},
    ${allHappenOnce ? changesOfSingles : sql`${firstOccurrences}, ${changes}`},
    ${list(consequences.filter((each) => each !== undefined))}
    -- Ids are returned only in unusual cases: encoding and decoding hundreds of them is expensive.
    select exists (select from new_jobs) as fanned_out,
      case when count(*) < ${events.length} then coalesce(array_agg(id), '{}') end as new_ids,
      ${allHappenOnce ? sql`null::uuid[]` : laterClicks} as later_click_ids
    from recorded`
  return {
    newIds: row!.newIds ? new Set(row!.newIds) : undefined,
    laterClickIds: new Set(row!.laterClickIds),
    fannedOut: row!.fannedOut,
  }
}

const given = (events: NewEvent[]): Sql => sql`
  given as (
    select * from unnest(
      ${events.map((event) => event.organizationId)}::uuid[],
      ${events.map((event) => event.id)}::uuid[],
      ${events.map((event) => event.eventName)}::text[],
      ${events.map((event) => event.occurredAt)}::timestamptz[],
      ${events.map((event) => event.messageId)}::uuid[],
      ${events.map((event) => event.flowId)}::uuid[],
      ${events.map((event) => event.contactId)}::uuid[],
      ${events.map((event) => event.machine)}::bool[],
      ${events.map((event) => event.machineReason)}::text[],
      ${events.map((event) => dataText(event.data))}::text[]
    ) as event (organization_id, id, event_name, occurred_at, message_id, flow_id, contact_id, machine, machine_reason,
      data)
  )`

/**
 * Stores the contact's address and name with the event, so that the body of its webhooks is the same at every attempt.
 * After a contact is erased, its old emails can still be opened and clicked. Such an event is counted, but keeps no more
 * than the erasure leaves of earlier ones (`emptyEvents`).
 */
const recorded = (events: Sql): Sql => sql`
  recorded as (
    insert into events (organization_id, id, event_name, occurred_at, message_id, flow_id, contact_id, machine,
      machine_reason, data, contact_email, contact_first_name)
    select event.organization_id, event.id, event_name, occurred_at, message_id, flow_id, contact_id, machine,
      machine_reason,
      case when contact.email is null
        then (data::jsonb - '{ip,user_agent,url}'::text[]) #- '{bounce,diagnostic}' #- '{bounce,evidence}'
        else data::jsonb end,
      contact.email, contact.first_name
    from (${events}) as event
    -- "offset 0" keeps the planner from scanning the whole table while its statistics are out of date.
    left join lateral (
      select email, first_name from contacts
      where contacts.organization_id = event.organization_id and contacts.id = event.contact_id
      offset 0
    ) as contact on true
    order by event.organization_id, event.id
    on conflict do nothing
    returning organization_id, id, event_name, occurred_at, message_id, flow_id, contact_id, machine, data
  )`

// PostgreSQL can store neither NUL nor lone surrogates, and replies from other mail servers may contain both.
const notStorable = /\\u(0000|d[89a-f])/i
const storable = (_key: string, value: unknown) =>
  typeof value === 'string' ? value.replaceAll('\0', '').replace(/\p{Surrogate}/gu, '\ufffd') : value

/** Returns the data as JSON text that PostgreSQL can store. */
export function dataText(data: EventData): string {
  const text = JSON.stringify(data)
  return notStorable.test(text) ? JSON.stringify(data, storable) : text
}

/**
 * `firsts` are the events that became the first occurrence for their subject. An event that is recorded late but
 * happened earlier replaces the first occurrence, and `previous_at` is the time of the replaced one.
 */
const firstOccurrences: Sql = sql`
  firsts as (
    insert into first_occurrences (organization_id, subject_id, event_name, flow_id, occurred_at)
    select distinct on (1, 2, 3) organization_id, coalesce(message_id, contact_id), event_name, flow_id, occurred_at
    from recorded
    where not machine and event_name <> 'emailSent'
    order by 1, 2, 3, occurred_at
    on conflict (organization_id, subject_id, event_name) do update
    set previous_at = first_occurrences.occurred_at, occurred_at = excluded.occurred_at
    where excluded.occurred_at < first_occurrences.occurred_at
    returning organization_id, subject_id, event_name, flow_id, occurred_at, previous_at
  )`

const changes: Sql = sql`
  changes as (
    select organization_id, event_name, flow_id, occurred_at as at, 1 as total, (event_name = 'emailSent')::int as uniques,
      machine::int as machine
    from recorded
    union all
    select organization_id, event_name, flow_id, occurred_at, 0, 1, 0 from firsts
    union all
    select organization_id, event_name, flow_id, previous_at, 0, -1, 0 from firsts where previous_at < 'infinity'
  )`

const changesOfSingles: Sql = sql`
  changes as (
    select organization_id, event_name, flow_id, occurred_at as at, 1 as total, 1 as uniques, 0 as machine from recorded
  )`

const laterClicks: Sql = sql`
  array_agg(id) filter (where event_name = 'emailClick' and not machine
    and (organization_id, message_id) not in (
      select organization_id, subject_id from firsts where event_name = 'emailClick' and previous_at is null))`

const namesOfSending: ReadonlySet<EventName> = new Set(['emailSent', 'emailSoftBounce', 'emailHardBounce'])

/**
 * A bounce may be recorded before the emailSent event. The message then stays bounced, and only its `sent_at` is set.
 */
const messageStates: Sql = sql`
  message_states as (
    select organization_id, message_id,
      min(occurred_at) filter (where event_name = 'emailSent') as sent_at,
      bool_or(event_name = 'emailHardBounce') as is_hard,
      bool_or(event_name <> 'emailSent') as is_bounce,
      -- 'emailHardBounce' sorts before 'emailSoftBounce' and takes precedence.
      (array_agg(data #>> '{bounce,reason}' order by event_name, occurred_at)
        filter (where event_name <> 'emailSent'))[1] as reason
    from recorded
    where event_name in ('emailSent', 'emailSoftBounce', 'emailHardBounce') and message_id is not null
    group by 1, 2
  ),
  messages_changed as (
    update messages
    set sent_at = coalesce(messages.sent_at, state.sent_at),
      status = case when is_bounce then 'bounced' when status in ('queued', 'failed') then 'sent' else status end,
      reason = case when is_hard or (is_bounce and status <> 'bounced') then state.reason else messages.reason end
    from message_states as state
    where messages.organization_id = state.organization_id and messages.id = state.message_id
      and messages.status <> 'suppressed'
      and (is_hard or (is_bounce and status <> 'bounced')
        or (messages.sent_at is null and state.sent_at is not null))
  )`

const suppressingNames: ReadonlySet<EventName> = new Set(['emailHardBounce', 'emailComplaint', 'contactUnsubscribe'])

/**
 * Suppresses the address that the message was sent to, which may no longer be the contact's address. `lower` yields the
 * exact key for ASCII addresses only; a non-ASCII address that was changed after the send is not worth more effort.
 */
const suppressed: Sql = sql`
  suppressions_made as (
    insert into suppressions (organization_id, email_key, reason, email, detail, message_id)
    select recorded.organization_id, address.key, cause.reason, address.email, cause.detail, recorded.message_id
    from recorded
    join contacts on contacts.organization_id = recorded.organization_id and contacts.id = recorded.contact_id
    left join messages on messages.organization_id = recorded.organization_id and messages.id = recorded.message_id
      and recorded.event_name <> 'contactUnsubscribe' and messages.email <> '' and messages.email <> contacts.email
    cross join lateral (values
      (coalesce(lower(messages.email collate "C"), contacts.email_key), coalesce(messages.email, contacts.email))
    ) as address (key, email)
    cross join lateral (values
      ('emailHardBounce', 'hard_bounce', data #>> '{bounce,reason}'),
      ('emailComplaint', 'complaint', data ->> 'feedback_type'),
      ('contactUnsubscribe', 'unsubscribe', data ->> 'method')
    ) as cause (event_name, reason, detail)
    where recorded.event_name in ('emailHardBounce', 'emailComplaint', 'contactUnsubscribe')
      and cause.event_name = recorded.event_name
    order by 1, 2, 3, recorded.occurred_at
    on conflict do nothing
  ),
  contacts_unsubscribed as (
    update contacts
    set subscription = 'unsubscribed', updated_at = now()
    from recorded
    where recorded.event_name = 'contactUnsubscribe'
      and contacts.organization_id = recorded.organization_id and contacts.id = recorded.contact_id
      and contacts.subscription <> 'unsubscribed'
  )`
