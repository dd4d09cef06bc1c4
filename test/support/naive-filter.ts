import { domainToASCII } from 'node:url'
import type { Condition, Filter, SegmentCondition } from '../../src/audience/segments/filter.ts'
import { parseId } from '../../src/platform/values/ids.ts'

const dayMs = 24 * 60 * 60 * 1_000

export type NaiveEvent = { eventName: string; occurredAt: Date; flowId: string | null; machine: boolean }
/** The email of a broadcast to the contact. `opened` and `clicked` are by a person. */
export type NaiveEmail = { broadcastId: string; messageId: string; status: string; opened: boolean; clicked: boolean }
export type NaiveContact = {
  id: string
  email: string
  firstName: string | null
  lastName: string | null
  attributes: Record<string, unknown>
  subscription: string
  isSuppressed: boolean
  createdAt: Date
  groupIds: string[]
  events: NaiveEvent[]
  emails: NaiveEmail[]
}

/** Evaluates a filter for one contact as its documentation says, in the time zone UTC. */
export function naiveMatches(
  contact: NaiveContact,
  filter: Filter,
  now: Date,
  segments: Readonly<Record<string, Filter>> = {},
): boolean {
  if (filter.type === 'all') return filter.conditions.every((each) => naiveMatches(contact, each, now, segments))
  if (filter.type === 'any') return filter.conditions.some((each) => naiveMatches(contact, each, now, segments))
  if (filter.type === 'segment') {
    const isInside = naiveMatches(contact, segments[parseId('seg', filter.segment_id)!]!, now, segments)
    return isInside === (filter.operator === 'member')
  }
  return matches(contact, filter, now)
}

function matches(contact: NaiveContact, condition: Exclude<Condition, SegmentCondition>, now: Date): boolean {
  switch (condition.type) {
    case 'text':
      return textMatches(textOf(contact, condition.field), condition.operator, inAscii(condition))
    case 'number':
      return numberMatches(attributeIn(contact, condition.field), condition.operator, condition.value)
    case 'date':
      return condition.field === 'created_at'
        ? createdMatches(contact.createdAt, condition, now)
        : dateMatches(textOf(contact, condition.field), condition, now)
    case 'boolean':
      return booleanMatches(textOf(contact, condition.field), condition.operator)
    case 'list':
      return listMatches(attributeIn(contact, condition.field), condition.operator, condition.value)
    case 'group':
      return contact.groupIds.includes(parseId('grp', condition.group_id)!) === (condition.operator === 'member')
    case 'status': {
      const status = contact.isSuppressed ? 'suppressed' : contact.subscription
      return (status === condition.value) === (condition.operator === 'is')
    }
    case 'broadcast': {
      const email = contact.emails.find(({ broadcastId }) => broadcastId === parseId('brc', condition.broadcast_id))
      return email !== undefined && reactionMatches(email, condition.operator)
    }
    case 'engagement': {
      const { event, at_least = 1, within_days, flow_id, include_machines = false } = condition
      const events = contact.events.filter(
        ({ eventName, occurredAt, flowId, machine }) =>
          eventName === event &&
          (include_machines || !machine) &&
          (flow_id === undefined || flowId === parseId('flw', flow_id)) &&
          (within_days === undefined || +occurredAt >= +now - within_days * dayMs),
      )
      return events.length >= at_least === (condition.operator === 'did')
    }
  }
}

function reactionMatches({ status, opened, clicked }: NaiveEmail, operator: string): boolean {
  switch (operator) {
    case 'opened':
      return opened
    case 'clicked':
      return clicked
    case 'not_opened':
      return status === 'sent' && !opened && !clicked
    default:
      return status === 'sent'
  }
}

/** Domains are stored in ASCII. In an address, the domain is what follows the @, or everything. */
function inAscii({ field, value }: { field: string; value?: string }): string | undefined {
  if (value === undefined || (field !== 'email_domain' && field !== 'email')) return value
  const [, local, domain] = /^(.*@)?(.*)$/s.exec(value) as unknown as [string, string | undefined, string]
  const isUnicode = [...domain].some((character) => character > '\x7f')
  return (local ?? '') + ((isUnicode && domainToASCII(domain)) || domain)
}

const attributeIn = ({ attributes }: NaiveContact, field: string) => attributes[field.slice('attributes.'.length)]

function textOf(contact: NaiveContact, field: string): string | null {
  if (field === 'email') return contact.email.toLowerCase()
  if (field === 'email_domain') return contact.email.toLowerCase().split('@')[1]!
  if (field === 'first_name') return contact.firstName
  if (field === 'last_name') return contact.lastName
  const value = attributeIn(contact, field)
  if (value === undefined || value === null) return null
  // As PostgreSQL writes JSON.
  return typeof value === 'object' ? JSON.stringify(value).replaceAll(',', ', ') : String(value)
}

function textMatches(given: string | null, operator: string, value = ''): boolean {
  const [text, wanted] = [given?.toLowerCase(), value.toLowerCase()]
  const has = (test: (text: string) => boolean) => text !== undefined && test(text)
  switch (operator) {
    case 'equals':
      return has((each) => each === wanted)
    case 'not_equals':
      return !has((each) => each === wanted)
    case 'contains':
      return has((each) => each.includes(wanted))
    case 'not_contains':
      return !has((each) => each.includes(wanted))
    case 'starts_with':
      return has((each) => each.startsWith(wanted))
    case 'ends_with':
      return has((each) => each.endsWith(wanted))
    default:
      return has((each) => each !== '') === (operator === 'is_set')
  }
}

function numberMatches(value: unknown, operator: string, wanted = 0): boolean {
  const isNumeric = typeof value === 'string' && /^ *[+-]?(\d+(\.\d+)?|\.\d+) *$/.test(value)
  const number = typeof value === 'number' || isNumeric ? Number(value) : Number.NaN
  switch (operator) {
    case 'equals':
      return number === wanted
    case 'not_equals':
      return number !== wanted
    case 'greater_than':
      return number > wanted
    case 'at_least':
      return number >= wanted
    case 'less_than':
      return number < wanted
    case 'at_most':
      return number <= wanted
    default:
      return ((value ?? '') !== '') === (operator === 'is_set')
  }
}

type DateTest = { operator: string; value?: string; days?: number }
const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10)

function dateMatches(text: string | null, { operator, value = '', days = 0 }: DateTest, now: Date): boolean {
  const day = /^\d{4}-\d{2}-\d{2}/.exec(text ?? '')?.[0]
  const today = dayOf(+now)
  const inLastDays = day !== undefined && day > dayOf(+now - days * dayMs) && day <= today
  switch (operator) {
    case 'on':
      return day === value
    case 'before':
      return day !== undefined && day < value
    case 'after':
      return day !== undefined && day > value
    case 'in_last_days':
      return inLastDays
    case 'not_in_last_days':
      return !inLastDays
    case 'in_next_days':
      return day !== undefined && day >= today && day < dayOf(+now + days * dayMs)
    default:
      return ((text ?? '') !== '') === (operator === 'is_set')
  }
}

function createdMatches(at: Date, { operator, value = '', days = 0 }: DateTest, now: Date): boolean {
  const day = dayOf(+at)
  const inLastDays = +at >= +now - days * dayMs
  switch (operator) {
    case 'on':
      return day === value
    case 'before':
      return day < value
    case 'after':
      return day > value
    case 'in_last_days':
      return inLastDays
    case 'not_in_last_days':
      return !inLastDays
    default:
      return operator === 'is_set'
  }
}

function booleanMatches(text: string | null, operator: string): boolean {
  const value = (text ?? '').toLowerCase()
  if (operator === 'is_true') return ['true', 'yes', '1'].includes(value)
  if (operator === 'is_false') return ['false', 'no', '0'].includes(value)
  return (value !== '') === (operator === 'is_set')
}

function listMatches(value: unknown, operator: string, wanted = ''): boolean {
  const list = Array.isArray(value)
    ? value.filter((entry) => entry !== null)
    : typeof value === 'string'
      ? value.split(',')
      : []
  const entries = list.map((entry) => String(entry).trim().toLowerCase())
  switch (operator) {
    case 'contains':
      return entries.includes(wanted.trim().toLowerCase())
    case 'not_contains':
      return !entries.includes(wanted.trim().toLowerCase())
    case 'is_empty':
      return !entries.some((entry) => entry !== '')
    default:
      return entries.some((entry) => entry !== '')
  }
}
