import type { CounterName } from '../../events/events.ts'
import type { Reader } from '../../platform/db/db.ts'
import { type Sql, sql } from '../../platform/db/sql.ts'
import type { EventName } from '../../platform/values/event-types.ts'
import { type EventId, type FlowId, leastId, type OrganizationId } from '../../platform/values/ids.ts'
import { type ActivityRow, findByCounters, type Position } from './activity.sql.ts'

/** `bounceId` is null if the email has not bounced; `position` is where the message is in the list. */
export type FigureMessage = Pick<
  ActivityRow,
  'id' | 'eventName' | 'occurredAt' | 'messageId' | 'contactId' | 'email' | 'firstName'
> & { reason: string | null; bounceId: EventId | null; position: Position }

export const figures = ['sent', 'delivered', 'opened', 'clicked', 'bounced', 'complaints', 'unsubscribed'] as const
export type Figure = (typeof figures)[number]

export type FigureFilter = {
  organizationId: OrganizationId
  flowId: FlowId
  figure: Figure
  from: Date
  until: Date
  before: Position | undefined
  limit: number
}

/** What a figure counts: the first event of a kind by a person, or emails. */
const countersOf: Record<Figure, readonly CounterName[]> = {
  sent: ['emailSent', 'emailRejected'],
  delivered: ['emailSent'],
  opened: ['emailOpen'],
  clicked: ['emailClick'],
  bounced: ['emailReturned', 'emailRejected'],
  complaints: ['emailComplaint'],
  unsubscribed: ['contactUnsubscribe'],
}

/**
 * Returns the messages that a figure counts. Newest first, one more than the limit. Those of `bounced` have their bounce,
 * at the place of the email.
 */
export async function selectFigureMessages(db: Reader, filter: FigureFilter): Promise<FigureMessage[]> {
  const { organizationId, figure, limit } = filter
  const [first, ...others] = countersOf[figure].map((name) => sql`(${selectCounted(filter, name)})`)
  const found = others.reduce((all, other) => sql`${all} union all ${other}`, first!)
  const isBounce = sql`${figure === 'bounced'}::bool`
  const rows = await db<Omit<FigureMessage, 'position'> & { positionAt: Date; positionId: EventId }>`
    select case when ${isBounce} then coalesce(bounce.id, event.id) else event.id end as id,
      case when ${isBounce} then coalesce(bounce.event_name, event.event_name) else event.event_name end as event_name,
      case when ${isBounce} then coalesce(bounce.occurred_at, event.occurred_at) else event.occurred_at end as occurred_at,
      event.message_id, event.contact_id, bounce.reason, bounce.id as bounce_id, contacts.email, contacts.first_name,
      event.occurred_at as position_at, event.id as position_id
    from (
      select * from (${found}) as found
      order by occurred_at desc, id desc
      limit ${limit + 1}
    ) as event
    left join lateral (
      select events.id, events.event_name, events.occurred_at, data -> 'bounce' ->> 'reason' as reason
      from first_occurrences as first
      join events on events.organization_id = ${organizationId} and events.contact_id = event.contact_id
        and events.occurred_at = first.occurred_at and events.message_id = first.subject_id
        and events.event_name = first.event_name
      where first.organization_id = ${organizationId} and first.subject_id = event.message_id
        and first.event_name in ('emailHardBounce', 'emailSoftBounce')
      -- A hard bounce comes first, as in the status of the message.
      order by first.event_name, events.id
      limit 1
    ) as bounce on true
    left join contacts on contacts.organization_id = ${organizationId} and contacts.id = event.contact_id
    order by event.occurred_at desc, event.id desc`
  return rows.map(({ positionAt, positionId, ...row }) => ({
    ...row,
    position: { occurredAt: positionAt, id: positionId },
  }))
}

/** Selects the events that a counter counts as `unique`. */
function selectCounted({ organizationId, flowId, from, until, before, limit }: FigureFilter, name: CounterName): Sql {
  const newest = before && before.occurredAt < until ? before.occurredAt : until
  const position = before ?? { occurredAt: until, id: leastId('evt', 0) }
  const counters = sql`
    event_counters
    where organization_id = ${organizationId} and event_name = ${name} and flow_id = ${flowId} and grain = 'quarter'
      and starts_at > ${from}::timestamptz - interval '15 minutes' and starts_at <= ${newest}`
  const events = sql`
    select id, event_name, occurred_at, message_id, contact_id from events
    where organization_id = ${organizationId} and flow_id = ${flowId} and ${isCounted(organizationId, name)}
      and occurred_at >= ${from} and (occurred_at, id) < (${position.occurredAt}, ${position.id})`
  return findByCounters({ counters, events, machine: 'unique', newest, limit })
}

const bounces = sql`('emailHardBounce', 'emailSoftBounce')`

function isCounted(organizationId: OrganizationId, name: CounterName): Sql {
  const bouncedBefore = (at: Sql) => sql`exists (
    select from first_occurrences
    where first_occurrences.organization_id = ${organizationId} and subject_id = events.message_id
      and first_occurrences.event_name in ${bounces} and first_occurrences.occurred_at < ${at})`
  switch (name) {
    // An email is sent once, so its event has no row among the first occurrences.
    case 'emailSent':
      return sql`event_name = 'emailSent'`
    case 'emailReturned':
      return sql`event_name = 'emailSent' and ${bouncedBefore(sql`'infinity'`)}`
    case 'emailRejected':
      return sql`event_name in ${bounces} and not ${bouncedBefore(sql`events.occurred_at`)} and ${isAlone(organizationId, sql`other.event_name in ${bounces}`)}
        and not exists (
          select from events as sent
          where sent.organization_id = ${organizationId} and sent.contact_id = events.contact_id
            and sent.message_id = events.message_id and sent.event_name = 'emailSent')`
    default:
      return isFirst(organizationId, name)
  }
}

const isFirst = (organizationId: OrganizationId, name: EventName): Sql => sql`
  event_name = ${name} and not machine
  and exists (
    select from first_occurrences
    where first_occurrences.organization_id = ${organizationId} and subject_id = events.message_id
      and first_occurrences.event_name = ${name} and first_occurrences.occurred_at = events.occurred_at)
  and ${isAlone(organizationId, sql`other.event_name = ${name} and not other.machine`)}`

/** Of several events of a message within the same millisecond, one counts. */
const isAlone = (organizationId: OrganizationId, isSame: Sql): Sql => sql`not exists (
  select from events as other
  where other.organization_id = ${organizationId} and other.contact_id = events.contact_id
    and other.occurred_at = events.occurred_at and ${isSame}
    and other.message_id = events.message_id and other.id < events.id)`
