import type { Reader } from '../../platform/db/db.ts'
import { type IdRange, inRange } from '../../platform/db/id-range.ts'
import { sql } from '../../platform/db/sql.ts'
import type { EventName } from '../../platform/values/event-types.ts'
import type { Broadcast, RecipientStatus } from '../broadcasts.sql.ts'
import { clicksOf, eventsFrom } from './sent-emails.sql.ts'

export type CountedBroadcast = Pick<Broadcast, 'organizationId' | 'id' | 'startedAt' | 'variants'>

export type StatusRow = { variant: number; status: RecipientStatus; count: number }

/** Counts the recipients of a range of the ledger that are in the sample of a test. */
export const countByVariant = (db: Reader, { organizationId, id }: CountedBroadcast, range: IdRange) =>
  db<StatusRow>`
    select variant, status, count(*) from broadcast_recipients
    where organization_id = ${organizationId} and broadcast_id = ${id} and ${inRange(range)(sql`contact_id`)}
      and variant is not null
    group by 1, 2`

export type ReactionRow = {
  variant: number | null
  eventName: EventName
  /** After the start. Null for other events than opens and clicks. */
  hour: number | null
  count: number
  /** How many of them show that a delivered email was read. */
  engaged: number
}

/** Counts the first human reactions of the recipients in a range of the ledger. */
export async function countReactions(
  db: Reader,
  { organizationId, id, startedAt }: CountedBroadcast,
  range: IdRange,
  names: EventName[],
): Promise<ReactionRow[]> {
  if (!startedAt) return []
  // "offset 0" keeps the planner from reading the reactions to all emails while its statistics are out of date. The names are
  // compared outside of it, because within it, the index would be searched for each of them.
  return db<ReactionRow>`
    select recipient.variant, reaction.event_name,
      case when reaction.event_name in ('emailOpen', 'emailClick')
        then greatest(0, floor(extract(epoch from reaction.occurred_at - ${startedAt}::timestamptz) / 3600))::int
        end as hour,
      count(*),
      count(*) filter (where recipient.status = 'sent' and case reaction.event_name
        when 'emailOpen' then true
        -- Who opened is counted already.
        when 'emailClick' then not exists (
          select from first_occurrences as open
          where open.organization_id = ${organizationId} and open.subject_id = recipient.message_id
            and open.event_name = 'emailOpen' and open.occurred_at < 'infinity')
        else false end) as engaged
    from (
      select variant, status, message_id from broadcast_recipients
      where organization_id = ${organizationId} and broadcast_id = ${id} and ${inRange(range)(sql`contact_id`)}
        and message_id is not null
      offset 0
    ) as recipient
    cross join lateral (
      select event_name, occurred_at from first_occurrences
      where first_occurrences.organization_id = ${organizationId}
        and first_occurrences.subject_id = recipient.message_id
        and first_occurrences.occurred_at < 'infinity'
      offset 0
    ) as reaction
    where reaction.event_name = any (${names}::text[])
    group by 1, 2, 3`
}

export type LinkClicks = { url: string; clicks: number; contacts: number }

/** Counts the human clicks of the recipients in a range of the ledger, by link. */
export async function countLinks(db: Reader, broadcast: CountedBroadcast, range: IdRange): Promise<LinkClicks[]> {
  const { organizationId, id, startedAt } = broadcast
  if (!startedAt) return []
  return db<LinkClicks>`
    select click.link as url, sum(click.clicks)::int8 as clicks, count(*) as contacts
    from (
      select contact_id, message_id from broadcast_recipients
      where organization_id = ${organizationId} and broadcast_id = ${id} and ${inRange(range)(sql`contact_id`)}
        and message_id is not null
      offset 0
    ) as recipient
    cross join lateral (
      select 1 from first_occurrences
      where first_occurrences.organization_id = ${organizationId}
        and first_occurrences.subject_id = recipient.message_id and first_occurrences.event_name = 'emailClick'
        and first_occurrences.occurred_at < 'infinity'
      offset 0
    ) as clicked
    cross join lateral (
      select events.link, count(*) as clicks from events
      where ${clicksOf(broadcast, eventsFrom(startedAt))}
      group by events.link
    ) as click
    group by click.link`
}
