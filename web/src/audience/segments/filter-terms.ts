import type { EventName } from '../../api/types.ts'

// The words for filters, used by the builder and by their descriptions.

export type ValueType = 'text' | 'number' | 'date' | 'boolean' | 'list'

export const valueTypes: { value: ValueType; label: string }[] = [
  { value: 'text', label: 'Text' },
  { value: 'number', label: 'Number' },
  { value: 'date', label: 'Date' },
  { value: 'boolean', label: 'Yes or no' },
  { value: 'list', label: 'List' },
]

const setOrNot = { is_set: 'has a value', is_not_set: 'has no value' }

/** The operators of each type of condition. */
export const operatorLabels: Record<
  ValueType | 'group' | 'status' | 'engagement' | 'broadcast' | 'segment',
  Record<string, string>
> = {
  text: {
    equals: 'is',
    not_equals: 'is not',
    contains: 'contains',
    not_contains: 'does not contain',
    starts_with: 'starts with',
    ends_with: 'ends with',
    ...setOrNot,
  },
  number: {
    equals: 'is',
    not_equals: 'is not',
    greater_than: 'is greater than',
    at_least: 'is at least',
    less_than: 'is less than',
    at_most: 'is at most',
    ...setOrNot,
  },
  date: {
    on: 'is on',
    before: 'is before',
    after: 'is after',
    in_last_days: 'is in the last',
    not_in_last_days: 'is not in the last',
    in_next_days: 'is in the next',
    ...setOrNot,
  },
  boolean: { is_true: 'is true', is_false: 'is false', ...setOrNot },
  list: {
    contains: 'contains',
    not_contains: 'does not contain',
    is_empty: 'is empty',
    is_not_empty: 'is not empty',
  },
  group: { member: 'is a member of', not_member: 'is not a member of' },
  status: { is: 'is', is_not: 'is not' },
  engagement: { did: 'has', did_not: 'has not' },
  broadcast: {
    received: 'received',
    opened: 'opened',
    clicked: 'clicked in',
    not_opened: 'received but did not open',
  },
  segment: { member: 'is in', not_member: 'is not in' },
}

export const needsDays = (operator: string) => operator.endsWith('_days')
export const needsNoValue = (operator: string) => /^is_(not_)?(set|empty)$/.test(operator)

export const fieldLabels = {
  email: 'Email address',
  email_domain: 'Email domain',
  first_name: 'First name',
  last_name: 'Last name',
  created_at: 'Date added',
  status: 'Status',
  group: 'Group',
  segment: 'Segment',
  broadcast: 'Broadcast',
} as const

export type EngagementEvent = Extract<
  EventName,
  | 'emailSent'
  | 'emailOpen'
  | 'emailClick'
  | 'emailSoftBounce'
  | 'emailHardBounce'
  | 'emailComplaint'
  | 'contactUnsubscribe'
>

/** The words before the email, for example “Has opened any email”. */
export const eventTerms: Record<EngagementEvent, { did: string; did_not: string }> = {
  emailSent: { did: 'Has received', did_not: 'Has not received' },
  emailOpen: { did: 'Has opened', did_not: 'Has not opened' },
  emailClick: { did: 'Has clicked in', did_not: 'Has not clicked in' },
  emailSoftBounce: { did: 'Has a soft bounce of', did_not: 'Has no soft bounce of' },
  emailHardBounce: { did: 'Has a hard bounce of', did_not: 'Has no hard bounce of' },
  emailComplaint: { did: 'Has complained about', did_not: 'Has not complained about' },
  contactUnsubscribe: { did: 'Has unsubscribed through', did_not: 'Has not unsubscribed through' },
}

export const isEvent = (subject: string): subject is EngagementEvent => subject in eventTerms
