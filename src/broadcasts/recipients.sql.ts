import type { Reader } from '../db/db.ts'
import { type Sql, sql } from '../db/sql.ts'
import { engagementFilters } from '../messages/engagement.ts'
import { isReaction, isReactionName, type ReactionName, recipientCondition } from '../segments/broadcast-recipients.ts'
import type { ContactId, MessageId } from '../values/ids.ts'
import type { Broadcast, RecipientStatus } from './broadcasts.sql.ts'
import { findClickers } from './clickers.sql.ts'
import { clicksOf, eventsFrom, idRangeOf, type SentBroadcast } from './sent-emails.sql.ts'

const linksMax = 20

export const engagements = ['sent', ...engagementFilters] as const
export type Engagement = (typeof engagements)[number]

export type RecipientFilter = {
  status?: RecipientStatus | undefined
  engagement?: Engagement | undefined
  /** A link that was clicked, as it is counted. */
  link?: string | undefined
}

export type RecipientRow = {
  contactId: ContactId
  email: string | null
  status: RecipientStatus
  reason: string | null
  messageId: MessageId | null
  variant: number | null
  firstOpenedAt: Date | null
  firstClickedAt: Date | null
  links: string[] | null
}

type Page = { after: ContactId | MessageId | undefined; limit: number }

/** The position of a recipient in a list with this filter: see `selectRecipients`. */
export const positionOf = ({ engagement }: RecipientFilter, row: RecipientRow): ContactId | MessageId =>
  isReactionName(engagement) ? row.messageId! : row.contactId

/**
 * A page of the ledger. Recipients that reacted may be few among a million, so they are found by the first occurrences of
 * their messages, in the order in which the emails were sent. The others are in the order of contacts.
 */
export async function selectRecipients(
  db: Reader,
  broadcast: SentBroadcast & Pick<Broadcast, 'counts'>,
  filter: RecipientFilter,
  { after, limit }: Page,
): Promise<RecipientRow[]> {
  const { organizationId, startedAt } = broadcast
  const reaction = isReactionName(filter.engagement) ? filter.engagement : undefined
  if (reaction && !startedAt) return []
  // Few recipients of a million may have a status: the ledger is not read further than to the last of them.
  const limitMax = filter.status === undefined ? limit : Math.min(limit, broadcast.counts[filter.status] ?? 0)
  const page = { after, limit: limitMax }
  const clickers = filter.link === undefined ? undefined : await findClickers(db, broadcast, filter.link)
  const recipients = reaction
    ? recipientsByReaction(broadcast, reaction, filter, { ...page, among: clickers })
    : recipientsByContact(broadcast, filter, page)
  const from = eventsFrom(startedAt ?? new Date(0))
  return db.run<RecipientRow>(sql`
    select recipient.contact_id, contacts.email, recipient.status, recipient.reason, recipient.message_id,
      recipient.variant, reaction.first_opened_at, reaction.first_clicked_at, click.links
    from (${recipients}) as recipient
    left join contacts on contacts.organization_id = recipient.organization_id and contacts.id = recipient.contact_id
    cross join lateral (
      select min(occurred_at) filter (where event_name = 'emailOpen') as first_opened_at,
        min(occurred_at) filter (where event_name = 'emailClick') as first_clicked_at
      from first_occurrences
      where organization_id = ${organizationId} and subject_id = recipient.message_id
        and event_name in ('emailOpen', 'emailClick') and occurred_at < 'infinity'
    ) as reaction
    cross join lateral (
      select array_agg(link.link order by link.first_at, link.link) as links
      from (
        select link, min(occurred_at) as first_at
        from events
        where ${clicksOf(broadcast, from)} and reaction.first_clicked_at is not null
        group by link
        order by 2, 1
        limit ${linksMax}
      ) as link
    ) as click
    order by recipient.position`)
}

const columns = sql`recipient.organization_id, recipient.contact_id, recipient.status, recipient.reason,
  recipient.message_id, recipient.variant`

function conditionOf({ organizationId }: SentBroadcast, { status, engagement }: RecipientFilter): Sql {
  const hasStatus = status ? statusIs(status) : sql`true`
  switch (engagement) {
    case 'sent':
      return sql`${hasStatus} and recipient.status in ('sent', 'bounced')`
    case 'delivered':
      return sql`${hasStatus} and ${recipientCondition(organizationId, 'received')}`
    case 'not_opened':
      return sql`${hasStatus} and ${recipientCondition(organizationId, 'not_opened')}`
    case 'bounced':
      return sql`${hasStatus} and recipient.status = 'bounced'`
    default:
      return hasStatus
  }
}

/** These always have a reason, and there is an index of recipients with one. An index on the status would slow down sending. */
const withReason: readonly RecipientStatus[] = ['failed', 'suppressed', 'unsubscribed']

const statusIs = (status: RecipientStatus): Sql =>
  withReason.includes(status)
    ? sql`recipient.status = ${status} and recipient.reason is not null`
    : sql`recipient.status = ${status}`

const recipientsByContact = (broadcast: SentBroadcast, filter: RecipientFilter, { after, limit }: Page): Sql => sql`
  select ${columns}, recipient.contact_id as position
  from broadcast_recipients as recipient
  where recipient.organization_id = ${broadcast.organizationId} and recipient.broadcast_id = ${broadcast.id}
    and ${after ? sql`recipient.contact_id > ${after}` : sql`true`} and ${conditionOf(broadcast, filter)}
  order by recipient.contact_id
  limit ${limit}`

/** "offset 0" keeps the planner from sorting all reactions before it returns the first. */
function recipientsByReaction(
  broadcast: SentBroadcast,
  reaction: ReactionName,
  filter: RecipientFilter,
  { after, limit, among }: Page & { among: MessageId[] | undefined },
): Sql {
  const { organizationId, id, startedAt } = broadcast
  const range = idRangeOf(broadcast)!
  const clicked =
    filter.link && !among
      ? sql`exists (select from events
        where ${clicksOf(broadcast, eventsFrom(startedAt!))} and events.link = ${filter.link})`
      : sql`true`
  return sql`
    select recipient.*, reaction.subject_id as position
    from (
      select subject_id from first_occurrences
      where organization_id = ${organizationId} and subject_id > ${after ?? range.from} and subject_id <= ${range.until}
        and ${isReaction[reaction]} and occurred_at < 'infinity'
        and ${among ? sql`subject_id = any (${among}::uuid[])` : sql`true`}
      group by subject_id
      order by subject_id
    ) as reaction
    cross join lateral (
      select ${columns}
      from messages
      join broadcast_recipients as recipient on recipient.organization_id = messages.organization_id
        and recipient.broadcast_id = messages.broadcast_id and recipient.contact_id = messages.contact_id
        and recipient.message_id = messages.id
      where messages.organization_id = ${organizationId} and messages.id = reaction.subject_id
        and messages.broadcast_id = ${id} and ${conditionOf(broadcast, filter)} and ${clicked}
      offset 0
    ) as recipient
    order by reaction.subject_id
    limit ${limit}`
}
