import type { Reader } from '../db/db.ts'
import { sql } from '../db/sql.ts'
import type { EventName } from '../values/event-types.ts'
import { type FlowId, leastId, type OrganizationId } from '../values/ids.ts'
import { type ActivityRow, findByCounters, type Position } from './activity.sql.ts'

export type FigureEvent = Pick<
  ActivityRow,
  'id' | 'eventName' | 'occurredAt' | 'messageId' | 'contactId' | 'email' | 'firstName'
> & { reason: string | null; hasBounced: boolean }

export type FigureFilter = {
  organizationId: OrganizationId
  flowId: FlowId
  eventNames: readonly EventName[]
  from: Date
  until: Date
  before: Position | undefined
  limit: number
}

/** Returns the events that `unique` counts: the first of each message by a person. Newest first, one more than the limit. */
export async function selectFirstEvents(db: Reader, filter: FigureFilter): Promise<FigureEvent[]> {
  const { organizationId, flowId, eventNames, from, until, before, limit } = filter
  const newest = before && before.occurredAt < until ? before.occurredAt : until
  const position = before ?? { occurredAt: until, id: leastId('evt', 0) }
  const counters = sql`
    event_counters
    where organization_id = ${organizationId} and event_name = kind.name and flow_id = ${flowId} and grain = 'quarter'
      and starts_at > ${from}::timestamptz - interval '15 minutes' and starts_at <= ${newest}`
  // An email is sent once, so its event has no row among the first occurrences. Of several events within the same
  // millisecond, one counts.
  const events = sql`
    select id, event_name, occurred_at, message_id, contact_id, data -> 'bounce' ->> 'reason' as reason from events
    where organization_id = ${organizationId} and event_name = kind.name and flow_id = ${flowId} and not machine
      and occurred_at >= ${from} and (occurred_at, id) < (${position.occurredAt}, ${position.id})
      and (event_name = 'emailSent' or exists (
        select from first_occurrences
        where first_occurrences.organization_id = ${organizationId} and subject_id = events.message_id
          and first_occurrences.event_name = kind.name and first_occurrences.occurred_at = events.occurred_at))
      and not exists (
        select from events as other
        where other.organization_id = ${organizationId} and other.contact_id = events.contact_id
          and other.occurred_at = events.occurred_at and other.event_name = kind.name
          and other.message_id = events.message_id and not other.machine and other.id < events.id)`
  return db<FigureEvent>`
    select event.id, event.event_name, event.occurred_at, event.message_id, event.contact_id, event.reason,
      contacts.email, contacts.first_name,
      exists (
        select from first_occurrences
        where first_occurrences.organization_id = ${organizationId} and subject_id = event.message_id
          and first_occurrences.event_name = any ('{emailHardBounce,emailSoftBounce}')
          and first_occurrences.occurred_at < 'infinity') as has_bounced
    from (
      select found.* from unnest(${eventNames}::text[]) as kind (name)
      cross join lateral (${findByCounters({ counters, events, machine: 'unique', newest, limit })}) as found
      order by occurred_at desc, id desc
      limit ${limit + 1}
    ) as event
    left join contacts on contacts.organization_id = ${organizationId} and contacts.id = event.contact_id
    order by event.occurred_at desc, event.id desc`
}
