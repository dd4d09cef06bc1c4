import type { Reader, Tx } from '../db/db.ts'
import { type Sql, sql } from '../db/sql.ts'
import { type ContactId, type EventId, leastId, type MessageId, type OrganizationId } from '../values/ids.ts'
import { countChanges } from './counters.sql.ts'
import { timeOfId } from './id-time.ts'
import type { NewEvent } from './record.sql.ts'

/** A link may be hit thousands of times a second; of one message the newest clicks are looked at, this many. */
const clicksMax = 200
/** The id of a click is made when it comes in, by processes whose clocks may differ by this much. */
const idSlackMs = 60_000
const burst = 'burst'
/** Written so that no index by name can serve it: in a month that is too new for statistics that would seem as good. */
const isClick = sql`(event_name = 'emailClick') is true`

/** A message, and the time around some clicks on its links. */
export type Around = {
  organizationId: OrganizationId
  contactId: ContactId
  messageId: MessageId
  fromAt: Date
  untilAt: Date
  /** Keep the look-up out of the partitions of other months. */
  fromId: string
  untilId: string
}

export function around(clicks: readonly NewEvent[], withinMs: number): Around[] {
  const byMessage = new Map<MessageId, Around>()
  for (const { organizationId, contactId, messageId, id, occurredAt } of clicks) {
    if (messageId === null) continue
    const fromAt = new Date(+occurredAt - withinMs)
    const untilAt = new Date(+occurredAt + withinMs)
    const fromId = leastId('evt', Math.min(timeOfId(id), +occurredAt) - idSlackMs)
    const untilId = leastId('evt', Math.max(timeOfId(id), +occurredAt) + idSlackMs)
    const known = byMessage.get(messageId)
    if (!known) byMessage.set(messageId, { organizationId, contactId, messageId, fromAt, untilAt, fromId, untilId })
    else {
      if (fromAt < known.fromAt) known.fromAt = fromAt
      if (untilAt > known.untilAt) known.untilAt = untilAt
      if (fromId < known.fromId) known.fromId = fromId
      if (untilId > known.untilId) known.untilId = untilId
    }
  }
  return [...byMessage.values()]
}

const aroundRows = (list: readonly Around[]): Sql => sql`
  unnest(
    ${list.map((each) => each.organizationId)}::uuid[],
    ${list.map((each) => each.contactId)}::uuid[],
    ${list.map((each) => each.messageId)}::uuid[],
    ${list.map((each) => each.fromAt)}::timestamptz[],
    ${list.map((each) => each.untilAt)}::timestamptz[]
  ) as around (organization_id, contact_id, message_id, from_at, until_at)`

/** The newest clicks within `around`, read by their contact. */
const clicksAround = (list: readonly Around[]): Sql => {
  // One pair of bounds for all, since values known beforehand are what lets PostgreSQL skip partitions.
  const [fromId] = list.map((each) => each.fromId).sort()
  const untilId = list
    .map((each) => each.untilId)
    .sort()
    .at(-1)
  return sql`
    select id, occurred_at, machine, data ->> 'url' as url
    from events
    where organization_id = around.organization_id and contact_id = around.contact_id
      and occurred_at between around.from_at and around.until_at
      and id >= ${fromId} and id < ${untilId}
      and message_id = around.message_id and ${isClick} and (not machine or machine_reason = ${burst})
    order by occurred_at desc
    limit ${clicksMax}`
}

/** Those with at least so many different links clicked. Usually none. */
export async function filterByLinks(db: Reader, list: readonly Around[], linksMin: number): Promise<Around[]> {
  if (list.length === 0) return []
  const rows = await db<{ messageId: MessageId }>`
    select message_id from ${aroundRows(list)}
    where (select count(distinct url) from (${clicksAround(list)}) as click) >= ${linksMin}`
  const found = new Set(rows.map(({ messageId }) => messageId))
  return list.filter(({ messageId }) => found.has(messageId))
}

export type Click = {
  organizationId: OrganizationId
  messageId: MessageId
  id: EventId
  occurredAt: Date
  machine: boolean
  url: string | null
}

/** Nobody else writes or labels clicks on these messages until the transaction ends. */
export async function lockFirstClicks(tx: Tx, list: readonly Around[]): Promise<void> {
  await tx`
    select from first_occurrences
    join ${aroundRows(list)} on first_occurrences.organization_id = around.organization_id
      and subject_id = around.message_id and event_name = 'emailClick'
    order by first_occurrences.organization_id, subject_id
    for update of first_occurrences`
}

export async function findClicks(db: Reader, list: readonly Around[]): Promise<Click[]> {
  return db<Click>`
    select around.organization_id, around.message_id, click.*
    from ${aroundRows(list)}
    cross join lateral (${clicksAround(list)}) as click`
}

/**
 * Makes machine clicks of clicks that were counted as a person's, and corrects the counters in the same statement: the
 * first occurrence moves on to the message's next human click.
 */
export async function relabelAsMachine(tx: Tx, clicks: readonly Click[]): Promise<void> {
  const ids = clicks.map(({ id }) => id)
  await tx`
    with relabelled as (
      update events
      set machine = true, machine_reason = ${burst}
      from unnest(${clicks.map((click) => click.organizationId)}::uuid[], ${ids}::uuid[]) as click (organization_id, id)
      where events.organization_id = click.organization_id and events.id = click.id and not events.machine
      returning events.organization_id, events.event_name, events.message_id, events.contact_id, events.flow_id,
        events.occurred_at
    ),
    subjects as (
      select organization_id, event_name, message_id, contact_id, max(occurred_at) as until_at
      from relabelled
      group by 1, 2, 3, 4
    ),
    remaining as materialized (
      select first.organization_id, first.subject_id, first.event_name, (
        -- This statement sees the events as they were before it.
        select min(event.occurred_at) from events as event
        where event.organization_id = subjects.organization_id and event.contact_id = subjects.contact_id
          and event.message_id = subjects.message_id and ${isClick}
          and not event.machine and event.id <> all (${ids}::uuid[])
      ) as first_at
      from subjects
      join first_occurrences as first on first.organization_id = subjects.organization_id
        and first.subject_id = subjects.message_id and first.event_name = subjects.event_name
      where first.occurred_at <= subjects.until_at
    ),
    -- At infinity when none remains: the next click is then known not to be the first, and is looked at for bursts.
    moved as (
      update first_occurrences as first
      set previous_at = first.occurred_at, occurred_at = coalesce(remaining.first_at, 'infinity')
      from remaining
      where first.organization_id = remaining.organization_id and first.subject_id = remaining.subject_id
        and first.event_name = remaining.event_name
        and first.occurred_at < coalesce(remaining.first_at, 'infinity')
      returning first.organization_id, first.event_name, first.flow_id, first.occurred_at, first.previous_at
    ),
    changes as (
      select organization_id, event_name, flow_id, occurred_at as at, 0 as total, 0 as uniques, 1 as machine
      from relabelled
      union all
      select organization_id, event_name, flow_id, occurred_at, 0, 1, 0 from moved where occurred_at < 'infinity'
      union all
      select organization_id, event_name, flow_id, previous_at, 0, -1, 0 from moved
    ),
    ${countChanges}
    select`
}
