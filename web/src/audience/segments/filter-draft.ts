import { randomId } from '@mantine/hooks'
import type { Filter } from '../../api/types.ts'
import {
  type EngagementEvent,
  isEvent,
  needsDays,
  needsNoValue,
  operatorLabels,
  type ValueType,
} from './filter-terms.ts'

// The filter while it is edited: every input has a value, as text, and every part a key for its list.

export type Subject =
  | 'email'
  | 'email_domain'
  | 'first_name'
  | 'last_name'
  | 'created_at'
  | 'status'
  | 'group'
  | 'segment'
  | 'broadcast'
  | 'attribute'
  | EngagementEvent

export type DraftCondition = {
  key: string
  kind: 'condition'
  subject: Subject
  attribute: string
  valueType: ValueType
  operator: string
  /** A text, number, day, status, or the id of a group, segment or broadcast. */
  value: string
  days: string
  atLeast: string
  /** Empty for any time. */
  withinDays: string
  /** Empty for any flow. */
  flowId: string
  machines: boolean
}
export type DraftGroup = { key: string; kind: 'group'; match: 'all' | 'any'; parts: DraftPart[] }
export type DraftPart = DraftCondition | DraftGroup

const blank = (): DraftCondition => ({
  key: randomId(),
  kind: 'condition',
  subject: 'attribute',
  attribute: '',
  valueType: 'text',
  operator: 'equals',
  value: '',
  days: '30',
  atLeast: '1',
  withinDays: '',
  flowId: '',
  machines: false,
})

export const newCondition = (): DraftCondition => ({ ...blank(), subject: 'email', operator: 'contains' })
export const newGroup = (match: 'all' | 'any' = 'all', parts: DraftPart[] = [newCondition()]): DraftGroup => ({
  key: randomId(),
  kind: 'group',
  match,
  parts,
})

/** The type of a condition, which determines its operators. */
export function typeOf({ subject, valueType }: Pick<DraftCondition, 'subject' | 'valueType'>) {
  if (subject === 'status' || subject === 'group' || subject === 'segment' || subject === 'broadcast') return subject
  if (subject === 'created_at') return 'date'
  if (subject === 'attribute') return valueType
  return isEvent(subject) ? 'engagement' : 'text'
}

/** Changes the subject or type of a condition. The operator stays if the new type has it, otherwise it is the first one. */
export function withSubject(condition: DraftCondition, change: Partial<DraftCondition>): DraftCondition {
  const next = { ...condition, ...change }
  if (typeOf(next) === typeOf(condition)) return next
  const operators = Object.keys(operatorLabels[typeOf(next)])
  return { ...next, operator: operators.includes(next.operator) ? next.operator : operators[0]!, value: '' }
}

/** Returns undefined if a condition lacks a value. */
export function toFilter(part: DraftPart): Filter | undefined {
  // The inputs offer only what the type of a condition has, and the API checks the rest.
  if (part.kind === 'condition') return toCondition(part) as Filter | undefined
  const conditions = part.parts.map(toFilter).filter((condition) => condition !== undefined)
  if (conditions.length === 0 || conditions.length < part.parts.length) return undefined
  return { type: part.match, conditions }
}

const isDay = /^\d{4}-\d{2}-\d{2}$/
const wholeNumber = (text: string) => (/^[1-9]\d{0,3}$/.test(text) ? Number(text) : undefined)

function toCondition(draft: DraftCondition): object | undefined {
  const type = typeOf(draft)
  if (type === 'engagement') return toEngagement(draft)
  const { subject, operator, attribute } = draft
  const value = draft.value.trim()
  if (type === 'group') return value ? { type, operator, group_id: value } : undefined
  if (type === 'segment') return value ? { type, operator, segment_id: value } : undefined
  if (type === 'broadcast') return value ? { type, operator, broadcast_id: value } : undefined
  if (type === 'status') return value ? { type, operator, value } : undefined
  if (subject === 'attribute' && !attribute.trim()) return undefined
  const field = subject === 'attribute' ? `attributes.${attribute.trim()}` : subject
  if (needsNoValue(operator) || type === 'boolean') return { type, field, operator }
  if (type === 'date' && needsDays(operator)) {
    const days = wholeNumber(draft.days)
    return days === undefined ? undefined : { type, field, operator, days }
  }
  if (value === '' || (type === 'date' && !isDay.test(value))) return undefined
  if (type !== 'number') return { type, field, operator, value }
  return Number.isFinite(Number(value)) ? { type, field, operator, value: Number(value) } : undefined
}

function toEngagement(draft: DraftCondition): object | undefined {
  const { subject, operator, atLeast, withinDays, flowId, machines } = draft
  const [times, days] = [wholeNumber(atLeast), wholeNumber(withinDays)]
  if (times === undefined || (withinDays !== '' && days === undefined)) return undefined
  return {
    type: 'engagement',
    operator,
    event: subject,
    ...(times > 1 && { at_least: times }),
    ...(days !== undefined && { within_days: days }),
    ...(flowId && { flow_id: flowId }),
    ...(machines && { include_machines: true }),
  }
}

export function toDraft(filter: Filter | undefined): DraftGroup {
  if (!filter) return newGroup()
  const part = toPart(filter)
  return part.kind === 'group' ? part : newGroup('all', [part])
}

function toPart(filter: Filter): DraftPart {
  switch (filter.type) {
    case 'all':
    case 'any':
      return newGroup(filter.type, filter.conditions.map(toPart))
    case 'group':
      return { ...blank(), subject: 'group', operator: filter.operator, value: filter.group_id }
    case 'segment':
      return { ...blank(), subject: 'segment', operator: filter.operator, value: filter.segment_id }
    case 'broadcast':
      return { ...blank(), subject: 'broadcast', operator: filter.operator, value: filter.broadcast_id }
    case 'status':
      return { ...blank(), subject: 'status', operator: filter.operator, value: filter.value }
    case 'engagement':
      return {
        ...blank(),
        subject: filter.event,
        operator: filter.operator,
        atLeast: String(filter.at_least ?? 1),
        withinDays: String(filter.within_days ?? ''),
        flowId: filter.flow_id ?? '',
        machines: filter.include_machines ?? false,
      }
    default: {
      const { type, field, operator } = filter
      const isAttribute = field.startsWith('attributes.')
      return {
        ...blank(),
        subject: isAttribute ? 'attribute' : (field as Subject),
        attribute: isAttribute ? field.slice('attributes.'.length) : '',
        valueType: type,
        operator,
        value: 'value' in filter ? String(filter.value ?? '') : '',
        days: 'days' in filter && filter.days !== undefined ? String(filter.days) : '30',
      }
    }
  }
}
