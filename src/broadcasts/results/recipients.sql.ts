import { isReaction, isReactionName, type ReactionName, recipientCondition } from '../../audience/audience.ts'
import type { Reader } from '../../platform/db/db.ts'
import { type Sql, sql } from '../../platform/db/sql.ts'
import type { ContactId, MessageId } from '../../platform/values/ids.ts'
import { type EngagementFilter, engagementOf, reactionTo } from '../../sending/sending.ts'
import type { Broadcast, RecipientStatus } from '../broadcasts.sql.ts'
import { hasWinner } from '../variants.ts'
import { findClickers } from './clickers.sql.ts'
import { clicksOf, eventsFrom, idRangeOf, type SentBroadcast } from './sent-emails.sql.ts'

const linksMax = 20

export type RecipientFilter = {
  status?: RecipientStatus | undefined
  engagement?: EngagementFilter | undefined
  /** A link that was clicked, as it is counted. */
  link?: string | undefined
  /** Only recipients in the sample of a test that were assigned to this variant. */
  variant?: number | undefined
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
  complainedAt: Date | null
  unsubscribedAt: Date | null
  links: string[] | null
}

/** What happened to the email, as in lists of messages. */
export const engagementOfRecipient = (row: RecipientRow) => engagementOf({ ...row, isTest: false })

type Page = {
  after: ContactId | MessageId | undefined
  limit: number
  /** The emails in which the wanted link was clicked, unless there are many. */
  among?: MessageId[] | undefined
}

type ListedBroadcast = SentBroadcast & Pick<Broadcast, 'counts' | 'variants' | 'testPercent'>

/** The reaction by whose first occurrences recipients are found: see `selectRecipients`. */
function reactionFor(broadcast: ListedBroadcast, { engagement, variant }: RecipientFilter): ReactionName | undefined {
  if (!isReactionName(engagement)) return undefined
  const isOfSample = variant !== undefined && hasWinner(broadcast)
  return isOfSample && (engagement === 'opened' || engagement === 'clicked') ? undefined : engagement
}

/** The position of a recipient in a list with this filter: see `selectRecipients`. */
export const positionOf = (
  broadcast: ListedBroadcast,
  filter: RecipientFilter,
  row: RecipientRow,
): ContactId | MessageId => (reactionFor(broadcast, filter) ? row.messageId! : row.contactId)

/**
 * A page of the ledger. Recipients that reacted may be few among a million, so they are found by the first occurrences of
 * their messages, in the order in which the emails were sent. The others are in the order of contacts, and so are those in the
 * sample of a test that opened or clicked: after the sample, its last page would be looked for in the opens of all others.
 */
export async function selectRecipients(
  db: Reader,
  broadcast: ListedBroadcast,
  filter: RecipientFilter,
  { after, limit }: Page,
): Promise<RecipientRow[]> {
  const { organizationId, startedAt } = broadcast
  if (isReactionName(filter.engagement) && !startedAt) return []
  const reaction = reactionFor(broadcast, filter)
  // Few recipients of a million may have a status: the ledger is not read further than to the last of them.
  const limitMax = filter.status === undefined ? limit : Math.min(limit, broadcast.counts[filter.status] ?? 0)
  const among = filter.link === undefined ? undefined : await findClickers(db, broadcast, filter.link)
  const page = { after, limit: limitMax, among }
  const recipients = reaction
    ? recipientsByReaction(broadcast, reaction, filter, page)
    : recipientsByContact(broadcast, filter, page)
  const from = eventsFrom(startedAt ?? new Date(0))
  return db.run<RecipientRow>(sql`
    select recipient.contact_id, contacts.email, recipient.status, recipient.reason, recipient.message_id,
      recipient.variant, reaction.*, click.links
    from (${recipients}) as recipient
    left join contacts on contacts.organization_id = ${organizationId} and contacts.id = recipient.contact_id
    cross join ${reactionTo(organizationId, sql`recipient.message_id`)}
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

function conditionOf({ organizationId }: SentBroadcast, { status, engagement, variant }: RecipientFilter): Sql {
  const hasVariant = variant === undefined ? sql`true` : sql`recipient.variant = ${variant}`
  const hasStatus = status ? sql`${hasVariant} and ${statusIs(status)}` : hasVariant
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

/** Whether the recipient clicked the wanted link. */
function linkCondition(broadcast: SentBroadcast, { link }: RecipientFilter, among: MessageId[] | undefined): Sql {
  if (link === undefined) return sql`true`
  if (among) return sql`recipient.message_id = any (${among}::uuid[])`
  return sql`(select exists (
    select from events where ${clicksOf(broadcast, eventsFrom(broadcast.startedAt!))} and events.link = ${link}))`
}

function recipientsByContact(broadcast: SentBroadcast, filter: RecipientFilter, { after, limit, among }: Page): Sql {
  const { organizationId, id } = broadcast
  const { engagement } = filter
  // A subquery, so that it is not planned as a join with the reactions to all emails.
  const hasReacted =
    engagement === 'opened' || engagement === 'clicked'
      ? sql`(select ${recipientCondition(organizationId, engagement)})`
      : sql`true`
  return sql`
    select ${columns}, recipient.contact_id as position
    from broadcast_recipients as recipient
    where recipient.organization_id = ${organizationId} and recipient.broadcast_id = ${id}
      and ${after ? sql`recipient.contact_id > ${after}` : sql`true`} and ${conditionOf(broadcast, filter)}
      and ${hasReacted} and ${linkCondition(broadcast, filter, among)}
    order by recipient.contact_id
    limit ${limit}`
}

/** "offset 0" keeps the planner from sorting all reactions before it returns the first. */
function recipientsByReaction(
  broadcast: SentBroadcast,
  reaction: ReactionName,
  filter: RecipientFilter,
  { after, limit, among }: Page,
): Sql {
  const { organizationId, id } = broadcast
  const range = idRangeOf(broadcast)!
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
        and messages.broadcast_id = ${id} and ${conditionOf(broadcast, filter)}
        and ${linkCondition(broadcast, filter, among)}
      offset 0
    ) as recipient
    order by reaction.subject_id
    limit ${limit}`
}
