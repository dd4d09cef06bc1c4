import {
  hasReaction,
  isReaction,
  isReactionName,
  isReading,
  type ReactionName,
  storedText,
} from '../../audience/audience.ts'
import { containsInAnyCase } from '../../platform/db/any-case.ts'
import { and, type Sql, sql } from '../../platform/db/sql.ts'
import {
  type ContactId,
  type FlowId,
  leastId,
  type MessageId,
  type OrganizationId,
  parseId,
} from '../../platform/values/ids.ts'
import type { EngagementFilter } from './engagement.ts'

export const messageStatuses = ['queued', 'scheduled', 'sent', 'bounced', 'suppressed', 'failed', 'cancelled'] as const
export type MessageStatus = (typeof messageStatuses)[number]

export type MessageFilter = {
  ids?: readonly MessageId[] | undefined
  status?: MessageStatus | undefined
  engagement?: EngagementFilter | undefined
  flowId?: FlowId | undefined
  contactId?: ContactId | undefined
  isTest?: boolean | undefined
  query?: string | undefined
  /** Accepted at this time or later. */
  from?: Date | undefined
  /** Accepted before this time. */
  until?: Date | undefined
  /** Only older messages. */
  before?: MessageId | undefined
}

const frequent: readonly EngagementFilter[] = ['opened', 'clicked']

/**
 * Selects messages, newest first. Messages with a reaction may be few among millions, so they are found by the first
 * occurrences, whose key is in the order of messages: that reads the index until the page is full. If another
 * condition is likely to be more selective, the messages that meet it are tested one by one.
 */
export function matchingMessages(organizationId: OrganizationId, filter: MessageFilter): Sql {
  const { engagement, flowId, contactId, query } = filter
  const reaction = isReactionName(engagement) ? engagement : undefined
  const isNarrow = contactId || (engagement && frequent.includes(engagement) && (flowId || query))
  if (reaction && !isNarrow) return messagesByReaction(organizationId, filter, reaction)
  const conditions = [
    ...conditionsOn(organizationId, filter),
    ...inRange(sql`messages.id`, filter),
    ...(reaction ? [hasReaction(organizationId, sql`messages.id`, isReaction[reaction])] : []),
  ]
  return sql`
    select messages.* from messages
    where messages.organization_id = ${organizationId} and ${and(conditions)}
    order by messages.id desc`
}

/** "offset 0" keeps the planner from sorting all reactions before it returns the first. */
const messagesByReaction = (organizationId: OrganizationId, filter: MessageFilter, reaction: ReactionName): Sql => sql`
  select messages.* from (
    select subject_id from first_occurrences
    where organization_id = ${organizationId} and ${isReaction[reaction]} and occurred_at < 'infinity'
      and ${and(inRange(sql`subject_id`, filter))}
    group by subject_id
    order by subject_id desc
  ) as reaction
  cross join lateral (
    select messages.* from messages
    where messages.organization_id = ${organizationId} and messages.id = reaction.subject_id
      and ${and(conditionsOn(organizationId, filter))}
    offset 0
  ) as messages
  order by reaction.subject_id desc`

/** Ids contain the time at which messages were accepted. */
const inRange = (id: Sql, { from, until, before }: MessageFilter): Sql[] => [
  sql`true`,
  ...(from ? [sql`${id} >= ${leastId('msg', from.getTime())}`] : []),
  ...(until ? [sql`${id} < ${leastId('msg', until.getTime())}`] : []),
  ...(before ? [sql`${id} < ${before}`] : []),
]

const conditionsOn = (organizationId: OrganizationId, filter: MessageFilter): Sql[] => [
  sql`true`,
  ...(filter.ids ? [sql`messages.id = any (${filter.ids}::uuid[])`] : []),
  ...(filter.status ? [hasStatus(filter.status)] : []),
  ...(filter.engagement ? [hasEngagement(organizationId, filter.engagement)] : []),
  ...(filter.flowId ? [sql`messages.flow_id = ${filter.flowId}`] : []),
  ...(filter.contactId ? [sql`messages.contact_id = ${filter.contactId}`] : []),
  ...(filter.isTest === undefined ? [] : [filter.isTest ? sql`messages.is_test` : sql`not messages.is_test`]),
  ...(filter.query ? [matchesQuery(organizationId, filter.query)] : []),
]

function hasStatus(status: MessageStatus): Sql {
  if (status === 'scheduled') return sql`messages.status = 'queued' and messages.send_at > now()`
  if (status === 'queued')
    return sql`messages.status = 'queued' and (messages.send_at is null or messages.send_at <= now())`
  return sql`messages.status = ${status}`
}

/** What a message must be, besides having a reaction. Nothing is known about what happened to test emails. */
function hasEngagement(organizationId: OrganizationId, engagement: EngagementFilter): Sql {
  const delivered = sql`messages.status = 'sent' and not messages.is_test`
  switch (engagement) {
    case 'sent':
      return sql`messages.status in ('sent', 'bounced') and not messages.is_test`
    case 'delivered':
      return delivered
    case 'not_opened':
      return sql`${delivered} and not ${hasReaction(organizationId, sql`messages.id`, isReading)}`
    case 'bounced':
      return sql`messages.status = 'bounced'`
    default:
      return sql`true`
  }
}

/** The text is the id of a message, contact, flow or event, or occurs in the address or the subject. */
function matchesQuery(organizationId: OrganizationId, query: string): Sql {
  const text = query.trim().toLowerCase()
  const [id, contactId, flowId] = [parseId('msg', text), parseId('con', text), parseId('flw', text)]
  if (id) return sql`messages.id = ${id}`
  if (contactId) return sql`messages.contact_id = ${contactId}`
  if (flowId) return sql`messages.flow_id = ${flowId}`
  const eventId = parseId('evt', text)
  if (eventId)
    return sql`messages.id = (
      select message_id from events where events.organization_id = ${organizationId} and events.id = ${eventId})`
  return sql`(${containsInAnyCase(sql`messages.email`, storedText(query))} or ${containsInAnyCase(sql`messages.subject`, query)})`
}
