import { domainToASCII } from 'node:url'
import { type Sql, sql } from '../../platform/db/sql.ts'
import { dayMs } from '../../platform/values/durations.ts'
import { type OrganizationId, parseId } from '../../platform/values/ids.ts'
import {
  type Context,
  matchesBoolean,
  matchesDate,
  matchesList,
  matchesNumber,
  matchesText,
} from './attribute-conditions.ts'
import { attributeOf } from './attribute-fields.ts'
import { recipientCondition } from './broadcast-recipients.ts'
import type {
  BroadcastCondition,
  Condition,
  ContactStatus,
  EngagementCondition,
  Filter,
  SegmentCondition,
} from './filter.ts'
import type { NestedSegments, ResolvedFilter } from './nested-segments.ts'

export type MatchOptions = {
  /** The end of periods such as "in the last 30 days". */
  now?: Date
  /** A condition on the ids of contacts, if the statement reads only the contacts that meet it. */
  among?: (contactId: Sql) => Sql
}

/**
 * Returns a condition on the rows of `contacts` (a table or an alias of that name) that is true for the contacts of an
 * organization that match the filter. The statement must also restrict `contacts.organization_id` to this organization:
 *
 *     insert into … select … from contacts
 *     where contacts.organization_id = ${organizationId} and ${matchesFilter(organizationId, filter)}
 */
export function matchesFilter(
  organizationId: OrganizationId,
  { filter, segments }: ResolvedFilter,
  { now = new Date(), among = () => sql`true` }: MatchOptions = {},
): Sql {
  return compile({ organizationId, now, among, segments }, filter).sql
}

/** The number of contacts for each one in the sample. */
export const sampleFactor = 16

/**
 * True for the contacts of the sample: those with 16 of the 256 values of the last byte of the id, which is random. The
 * indexes contacts_sample and events_sample have the same condition, so it contains no parameters.
 */
export const isSampled = (contactId: Sql): Sql => sql`get_byte(uuid_send(${contactId}), 15) < 16`

/** A condition that is true for contacts with this status. */
export const hasStatus = (organizationId: OrganizationId, status: ContactStatus): Sql =>
  statusIs(organizationId, status).sql

type Scope = Pick<Context, 'organizationId' | 'among'>
type FilterContext = Context & { segments: NestedSegments }

/**
 * `ids`: selects the ids of the contacts without reading `contacts`. `reads`: whether the condition reads another
 * table, which the planner can join only if the condition is not part of an `or`.
 */
type Part = { sql: Sql; reads: boolean; ids?: Sql }

function compile(context: FilterContext, filter: Filter): Part {
  if (filter.type === 'all') return allOf(filter.conditions.map((each) => compile(context, each)))
  if (filter.type === 'any')
    return anyOf(
      context,
      filter.conditions.map((each) => compile(context, each)),
    )
  return compileCondition(context, filter)
}

const simple = (condition: Sql): Part => ({ sql: condition, reads: false })

function allOf(parts: Part[]): Part {
  const [first, ...rest] = parts as [Part, ...Part[]]
  if (rest.length === 0) return first
  return {
    sql: sql`(${rest.reduce((joined, part) => sql`${joined} and ${part.sql}`, first.sql)})`,
    reads: parts.some(({ reads }) => reads),
  }
}

/**
 * A subquery in an `or` would run once per contact. Each alternative that reads another table is therefore a query of
 * its own, and the contacts are looked up in the union of their results.
 */
function anyOf(scope: Scope, parts: Part[]): Part {
  if (parts.length === 1) return parts[0]!
  const fields = parts.filter(({ reads }) => !reads)
  const fieldConditions = fields.length > 0 ? [joinedByOr(fields.map((part) => part.sql))] : []
  if (fields.length === parts.length) return simple(fieldConditions[0]!)
  const queries = [
    ...fieldConditions.map((condition) => idsOf(scope, simple(condition))),
    ...parts.filter(({ reads }) => reads).map((part) => idsOf(scope, part)),
  ]
  const union = queries.reduce((joined, query) => sql`${joined} union all ${query}`)
  return { sql: sql`contacts.id in (${union})`, reads: true, ids: sql`(${union})` }
}

/** Selects the ids of the contacts that meet the condition. */
const idsOf = ({ organizationId, among }: Scope, { ids, sql: condition }: Part): Sql =>
  ids ??
  sql`(select contacts.id from contacts where contacts.organization_id = ${organizationId}
    and ${among(sql`contacts.id`)} and ${condition})`

const joinedByOr = (conditions: Sql[]): Sql =>
  sql`(${conditions.reduce((joined, condition) => sql`${joined} or ${condition}`)})`

function compileCondition(context: FilterContext, condition: Condition): Part {
  switch (condition.type) {
    case 'text':
      return simple(matchesText(textOf(condition.field), { ...condition, value: storedText(condition) }))
    case 'number':
      return simple(matchesNumber(attributeOf(condition.field), condition))
    case 'date':
      return simple(matchesDate(context, condition))
    case 'boolean':
      return simple(matchesBoolean(attributeOf(condition.field), condition))
    case 'list':
      return simple(matchesList(attributeOf(condition.field), condition))
    case 'group':
      return membership(context, condition)
    case 'status':
      return condition.operator === 'is'
        ? statusIs(context.organizationId, condition.value)
        : statusIsNot(context, condition.value)
    case 'engagement':
      return engagement(context, condition)
    case 'broadcast':
      return isRecipient(context, condition)
    case 'segment':
      return isInSegment(context, condition)
  }
}

function textOf(field: string): Sql {
  switch (field) {
    case 'email':
      return sql`contacts.email_key`
    case 'email_domain':
      return sql`split_part(contacts.email_key, '@', 2)`
    case 'first_name':
      return sql`contacts.first_name`
    case 'last_name':
      return sql`contacts.last_name`
    default:
      return sql`contacts.attributes ->> ${attributeOf(field)}::text`
  }
}

/** Domains of addresses are stored in ASCII. */
function storedText({ field, value = '' }: { field: string; value?: string | undefined }): string {
  if (field !== 'email' && field !== 'email_domain') return value
  const at = value.lastIndexOf('@') + 1
  const domain = value.slice(at)
  const isAscii = /^[\0-\x7f]*$/.test(domain)
  return value.slice(0, at) + ((!isAscii && domainToASCII(domain)) || domain)
}

function membership(
  { organizationId, among }: Context,
  { operator, group_id }: { operator: string; group_id: string },
): Part {
  const members = sql`group_members where group_members.organization_id = ${organizationId}
    and group_members.group_id = ${parseId('grp', group_id)}
    and ${among(sql`group_members.contact_id`)}`
  if (operator === 'not_member')
    return { sql: sql`not exists (select from ${members} and group_members.contact_id = contacts.id)`, reads: true }
  const ids = sql`(select group_members.contact_id from ${members})`
  return { sql: sql`contacts.id in ${ids}`, reads: true, ids }
}

/** Suppressions with the reason 'unsubscribe' are reflected by the subscription of the contact. */
const suppressed = (organizationId: OrganizationId): Part => ({
  sql: sql`contacts.email_key in (select suppressions.email_key from suppressions
    where suppressions.organization_id = ${organizationId} and suppressions.reason <> 'unsubscribe')`,
  reads: true,
})
const notSuppressed = (organizationId: OrganizationId): Part => ({
  sql: sql`not exists (select from suppressions where suppressions.organization_id = ${organizationId}
    and suppressions.email_key = contacts.email_key and suppressions.reason <> 'unsubscribe')`,
  reads: true,
})

function statusIs(organizationId: OrganizationId, status: ContactStatus): Part {
  if (status === 'suppressed') return suppressed(organizationId)
  return allOf([simple(sql`contacts.subscription = ${status}`), notSuppressed(organizationId)])
}

function statusIsNot(scope: Scope, status: ContactStatus): Part {
  const { organizationId } = scope
  if (status === 'suppressed') return notSuppressed(organizationId)
  return anyOf(scope, [simple(sql`contacts.subscription <> ${status}`), suppressed(organizationId)])
}

function engagement(context: Context, condition: EngagementCondition): Part {
  const { operator, at_least: atLeast = 1 } = condition
  const events = eventsOf(context, condition)
  const ids =
    atLeast === 1
      ? sql`(select events.contact_id from ${events})`
      : sql`(select events.contact_id from ${events} group by events.contact_id having count(*) >= ${atLeast})`
  if (operator === 'did') return { sql: sql`contacts.id in ${ids}`, reads: true, ids }
  return {
    sql:
      atLeast === 1
        ? sql`not exists (select from ${events} and events.contact_id = contacts.id)`
        : sql`not exists (select from ${ids} as often where often.contact_id = contacts.id)`,
    reads: true,
  }
}

function eventsOf(
  { organizationId, now, among }: Context,
  { event, within_days: days, flow_id: flowText, include_machines: withMachines = false }: EngagementCondition,
): Sql {
  const conditions = [
    ...(withMachines ? [] : [sql`and not events.machine`]),
    ...(flowText ? [sql`and events.flow_id = ${parseId('flw', flowText)}`] : []),
    ...(days ? [sql`and events.occurred_at >= ${new Date(+now - days * dayMs)}::timestamptz`] : []),
  ]
  return conditions.reduce(
    (joined, each) => sql`${joined} ${each}`,
    sql`events where events.organization_id = ${organizationId} and events.event_name = ${event}
      and ${among(sql`events.contact_id`)}`,
  )
}

function isRecipient({ organizationId, among }: Scope, { operator, broadcast_id }: BroadcastCondition): Part {
  const ids = sql`(select recipient.contact_id from broadcast_recipients as recipient
    where recipient.organization_id = ${organizationId} and recipient.broadcast_id = ${parseId('brc', broadcast_id)}
      and ${among(sql`recipient.contact_id`)} and ${recipientCondition(organizationId, operator)})`
  return { sql: sql`contacts.id in ${ids}`, reads: true, ids }
}

function isInSegment(context: FilterContext, { operator, segment_id }: SegmentCondition): Part {
  const part = compile(context, context.segments[parseId('seg', segment_id)!]!)
  if (operator === 'member') return part
  if (!part.reads) return simple(sql`(${part.sql}) is not true`)
  return {
    sql: sql`not exists (select from ${idsOf(context, part)} as inside (id) where inside.id = contacts.id)`,
    reads: true,
  }
}
