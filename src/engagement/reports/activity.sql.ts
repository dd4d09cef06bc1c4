import { allFlows } from '../../events/events.ts'
import type { Reader } from '../../platform/db/db.ts'
import { first } from '../../platform/db/rows.ts'
import { and, type Sql, sql } from '../../platform/db/sql.ts'
import { type EventData, type EventName, eventNames, type WebhookEventName } from '../../platform/values/event-types.ts'
import type { ContactId, EventId, FlowId, MessageId, OrganizationId } from '../../platform/values/ids.ts'

export type ActivityRow = {
  id: EventId
  eventName: EventName
  occurredAt: Date
  machine: boolean
  machineReason: string | null
  messageId: MessageId | null
  flowId: FlowId | null
  flowName: string | null
  contactId: ContactId
  /** Null if the contact was erased. */
  email: string | null
  firstName: string | null
  data: EventData
}

/** A position in the list: newest first, by time of occurrence and then by id. */
export type Position = { occurredAt: Date; id: EventId }

export type ActivityFilter = {
  organizationId: OrganizationId
  eventName: EventName | undefined
  flowId: FlowId | undefined
  contactId: ContactId | undefined
  machine: boolean | undefined
  /** Only older events. */
  before: Position | undefined
  /** Only newer events. */
  after: Position | undefined
  limit: number
}

/** Newest first, one more than the limit. */
export const selectActivity = (db: Reader, filter: ActivityFilter) =>
  db<ActivityRow>`
    with event as materialized (
      ${filter.contactId ? byContact(filter) : filter.flowId || filter.machine !== undefined ? byCounters(filter) : byName(filter)}
      order by occurred_at desc, id desc
      limit ${filter.limit + 1}
    )
    select event.*, flows.name as flow_name, contacts.email, contacts.first_name
    from event
    left join flows on flows.organization_id = ${filter.organizationId} and flows.id = event.flow_id
    left join contacts on contacts.organization_id = ${filter.organizationId} and contacts.id = event.contact_id
    order by occurred_at desc, event.id desc`

const columns = sql`id, event_name, occurred_at, machine, machine_reason, message_id, flow_id, contact_id, data`

function conditions({ organizationId, flowId, machine, before, after }: ActivityFilter): Sql {
  return and([
    sql`organization_id = ${organizationId}`,
    ...(flowId ? [sql`flow_id = ${flowId}`] : []),
    ...(machine === undefined ? [] : [sql`machine = ${machine}`]),
    ...(before ? [sql`(occurred_at, id) < (${before.occurredAt}, ${before.id})`] : []),
    ...(after ? [sql`(occurred_at, id) > (${after.occurredAt}, ${after.id})`] : []),
  ])
}

const names = ({ eventName }: ActivityFilter) => (eventName ? [eventName] : [...eventNames])

const byContact = (filter: ActivityFilter) =>
  sql`
    select ${columns} from events
    where ${conditions(filter)} and contact_id = ${filter.contactId} and event_name = any (${names(filter)})`

/** The newest events of each kind, read from the end of an index, and of these the newest. */
const byName = (filter: ActivityFilter) =>
  sql`
    select event.* from unnest(${names(filter)}::text[]) as kind (name)
    cross join lateral (
      select ${columns} from events
      where ${conditions(filter)} and event_name = kind.name
      order by occurred_at desc, id desc
      limit ${filter.limit + 1}
    ) as event`

/** For filters that may match few events. */
function byCounters(filter: ActivityFilter): Sql {
  const { organizationId, flowId, machine, before, limit } = filter
  const newest = before?.occurredAt ?? 'infinity'
  const counters = sql`
    event_counters
    where organization_id = ${organizationId} and event_name = kind.name and flow_id = ${flowId ?? allFlows}
      and grain = 'quarter' and starts_at <= ${newest}::timestamptz`
  const events = sql`select ${columns} from events where ${conditions(filter)} and event_name = kind.name`
  return sql`
    select event.* from unnest(${names(filter)}::text[]) as kind (name)
    cross join lateral (${findByCounters({ counters, events, machine, newest, limit })}) as event`
}

type CountedEvents = {
  counters: Sql
  events: Sql
  /** Automated events, those by people, all of them, or the first ones by people. */
  machine: boolean | undefined | 'unique'
  newest: Date | string
  limit: number
}

/**
 * Selects the newest events, one more than the limit of each quarter-hour. The counters show which quarter-hours contain
 * matches, and only these are read, until a page is full. Avoids an index on the busiest table.
 */
export function findByCounters({ counters, events, machine, newest, limit }: CountedEvents): Sql {
  const matching = matchingCount(machine)
  return sql`
    select event.* from (
      select starts_at,
        -- The quarter-hour in which the previous page ended may be exhausted, so it is not counted.
        coalesce(sum(matching) filter (where starts_at + interval '15 minutes' <= ${newest}::timestamptz)
          over (order by starts_at desc rows between unbounded preceding and 1 preceding), 0) as newer
      from (
        select starts_at, ${matching} as matching from ${counters} and ${matching} > 0
        order by starts_at desc
        limit ${limit + 2}
      ) as counter
    ) as quarter
    cross join lateral (
      ${events} and occurred_at >= quarter.starts_at and occurred_at < quarter.starts_at + interval '15 minutes'
      order by occurred_at desc, id desc
      limit ${limit + 1}
    ) as event
    where quarter.newer <= ${limit}`
}

function matchingCount(machine: CountedEvents['machine']): Sql {
  if (machine === 'unique') return sql`uniques`
  return machine === undefined ? sql`total` : machine ? sql`machine` : sql`total - machine`
}

export type FoundEvent = Omit<ActivityRow, 'eventName'> & { eventName: WebhookEventName }

export const findEvent = (db: Reader, organizationId: OrganizationId, id: EventId) =>
  first(db<FoundEvent>`
    select events.id, event_name, occurred_at, machine, machine_reason, message_id, flow_id, contact_id, data,
      flows.name as flow_name, contacts.email, contacts.first_name
    from events
    left join flows on flows.organization_id = ${organizationId} and flows.id = events.flow_id
    left join contacts on contacts.organization_id = ${organizationId} and contacts.id = events.contact_id
    where events.organization_id = ${organizationId} and events.id = ${id}`)

export const findEventPosition = (db: Reader, organizationId: OrganizationId, id: EventId) =>
  first(db<Position>`
    select occurred_at, id from events where organization_id = ${organizationId} and id = ${id}`)
