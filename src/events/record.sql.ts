import type { Tx } from '../db/db.ts'
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
  /** Null where there is no message. */
  flowId: FlowId | null
  contactId: ContactId
  machine: boolean
  machineReason: string | null
  /** `ip` only if the organization keeps addresses. */
  data: EventData
}

export type Inserted = {
  /** Of the events that were new; undefined when all were. */
  newIds: ReadonlySet<EventId> | undefined
  /** Of new clicks made by people, those that are not the first on their message, but in this batch. */
  laterClickIds: ReadonlySet<EventId>
  /** Whether a webhook is to be told. */
  fannedOut: boolean
}

/** What a statement does besides writing events: CTEs before, the source of the events, and what changes `messages`, if anything. */
export type Surroundings = { ctes: Sql; source: Sql; messagesChanged: Sql | undefined }

/**
 * Writes events and all that follows from them in one statement. Everything else comes from the rows really inserted, so
 * an event given twice changes nothing. Rows that others may touch are taken in the order of their keys.
 */
export function insertEvents(tx: Tx, events: NewEvent[]): Promise<Inserted> {
  return insertEventsAfter(tx, events, {
    ctes: given(events),
    source: sql`select * from given`,
    messagesChanged: events.some(({ eventName }) => namesOfSending.has(eventName)) ? messageStates : undefined,
  })
}

/**
 * The same at the end of a statement that has to do more, such as to end the job that made the event happen. Of `events`
 * the names are looked at: what cannot follow from them is left out, since also a part that finds nothing to do costs
 * a tenth of the statement.
 */
export async function insertEventsAfter(
  tx: Tx,
  events: readonly Pick<NewEvent, 'eventName'>[],
  { ctes, source, messagesChanged }: Surroundings,
): Promise<Inserted> {
  const suppresses = events.some(({ eventName }) => suppressingNames.has(eventName))
  // A mail is sent once: its event is its first occurrence, and takes no row to tell so.
  const allHappenOnce = events.every(({ eventName }) => eventName === 'emailSent')
  const consequences = [countChanges, messagesChanged, suppresses ? suppressed : undefined, fanOut]
  const [row] = await tx<{ newIds: EventId[] | null; laterClickIds: EventId[] | null; fannedOut: boolean }>`
    with ${ctes},
    ${recorded(source)},
    ${allHappenOnce ? changesOfSingles : sql`${firstOccurrences}, ${changes}`},
    ${list(consequences.filter((each) => each !== undefined))}
    -- Ids come back only where something is unusual: hundreds of them are dear to write and to read.
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
 * After a contact is erased, its old emails can still be opened and clicked. Such an event is counted, but keeps no more
 * than the erasure leaves of earlier ones (`emptyEvents`). Events without data, such as emailSent, skip the lookup.
 */
const dataOfContact: Sql = sql`
  case when data = '{}' or exists (
    select from contacts
    where contacts.organization_id = event.organization_id and contacts.id = event.contact_id)
  then data::jsonb
  else (data::jsonb - '{ip,user_agent,url}'::text[]) #- '{bounce,diagnostic}' #- '{bounce,evidence}' end`

const recorded = (events: Sql): Sql => sql`
  recorded as (
    insert into events (organization_id, id, event_name, occurred_at, message_id, flow_id, contact_id, machine,
      machine_reason, data)
    select organization_id, id, event_name, occurred_at, message_id, flow_id, contact_id, machine, machine_reason,
      ${dataOfContact}
    from (${events}) as event
    order by organization_id, id
    on conflict do nothing
    returning organization_id, id, event_name, occurred_at, message_id, flow_id, contact_id, machine, data
  )`

// PostgreSQL stores neither NUL nor half a surrogate pair, and the words of a foreign mail server may hold either.
const notStorable = /\\u(0000|d[89a-f])/i
const storable = (_key: string, value: unknown) =>
  typeof value === 'string' ? value.replaceAll('\0', '').replace(/\p{Surrogate}/gu, '\ufffd') : value

/** As JSON that can be stored. */
export function dataText(data: EventData): string {
  const text = JSON.stringify(data)
  return notStorable.test(text) ? JSON.stringify(data, storable) : text
}

/**
 * `firsts` are the occurrences that are the first of their subject, as far as is known now, and were not before. One
 * that came late but happened earlier moves the first, and `previous_at` tells from where.
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

/** A bounce may come before the news that the mail was sent: it stays bounced, and gets its time of sending. */
const messageStates: Sql = sql`
  message_states as (
    select organization_id, message_id,
      min(occurred_at) filter (where event_name = 'emailSent') as sent_at,
      bool_or(event_name = 'emailHardBounce') as is_hard,
      bool_or(event_name <> 'emailSent') as is_bounce,
      -- 'emailHardBounce' sorts before 'emailSoftBounce' and tells more.
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
 * Who gets no more mail: the address the message went to, which need not be the contact's any more. (`lower` of the old
 * spelling is exact for ASCII, and an address written otherwise that changed since is not worth more.)
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
