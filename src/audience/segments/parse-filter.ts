import type { FastifyRequest } from 'fastify'
import { type FieldProblem, invalid } from '../../platform/values/errors.ts'
import { type BroadcastId, type FlowId, type GroupId, parseId, type SegmentId } from '../../platform/values/ids.ts'
import { isStorableJson, unstorableProblem } from '../../platform/values/text.ts'
import { type Condition, type Filter, FilterRef } from './filter.ts'
import { conditionsMax, depthMax, filterBytesMax } from './filter-limits.ts'

declare const checked: unique symbol
/** A filter within the limits, in which every condition has the values that its operator needs. */
export type CheckedFilter = Filter & { readonly [checked]: true }

/** Parses the JSON text of a filter in the query of a request. Throws `Refusal` if it is invalid. */
export function parseFilter(request: FastifyRequest, text: string): CheckedFilter {
  let filter: unknown
  try {
    filter = JSON.parse(text)
  } catch {
    throw invalid({ path: 'filter', problem: 'is not JSON' })
  }
  const validate = request.getValidationFunction(FilterRef) ?? request.compileValidationSchema(FilterRef)
  if (!validate(filter)) {
    const validation = validate.errors?.map((error) => ({ ...error, instancePath: `/filter${error.instancePath}` }))
    throw Object.assign(new Error('The filter is invalid.'), { validation })
  }
  return checkFilter(filter as Filter)
}

/** Checks the rules that the schema does not express. Throws `Refusal` with the path of each problem below `filter`. */
export function checkFilter(filter: Filter): CheckedFilter {
  const problems: FieldProblem[] = []
  const text = JSON.stringify(filter)
  if (Buffer.byteLength(text) > filterBytesMax)
    throw invalid({ path: 'filter', problem: `must have at most ${filterBytesMax} bytes as JSON` })
  if (!isStorableJson(text)) throw invalid({ path: 'filter', problem: unstorableProblem })
  const visit = (part: Filter, path: string, depth: number) => {
    if (part.type === 'all' || part.type === 'any') {
      if (depth >= depthMax) problems.push({ path, problem: `must not be nested more than ${depthMax} levels deep` })
      else for (const [index, each] of part.conditions.entries()) visit(each, `${path}.conditions.${index}`, depth + 1)
      return
    }
    problems.push(...problemsOf(part, path))
  }
  visit(filter, 'filter', 0)
  if (countConditions(filter) > conditionsMax)
    problems.push({ path: 'filter', problem: `must have at most ${conditionsMax} conditions` })
  const [first, ...rest] = problems
  if (first) throw invalid(first, ...rest)
  return filter as CheckedFilter
}

const needsNoValue = new Set<string>(['is_set', 'is_not_set', 'is_empty', 'is_not_empty'])
const needsDays = new Set<string>(['in_last_days', 'not_in_last_days', 'in_next_days'])

function problemsOf(condition: Condition, path: string): FieldProblem[] {
  const required = (name: string) => [{ path: `${path}.${name}`, problem: 'is required' }]
  switch (condition.type) {
    case 'text':
    case 'number':
    case 'list':
      return condition.value === undefined && !needsNoValue.has(condition.operator) ? required('value') : []
    case 'date':
      if (needsNoValue.has(condition.operator)) return []
      if (needsDays.has(condition.operator)) return condition.days === undefined ? required('days') : []
      if (condition.value === undefined) return required('value')
      return isDay(condition.value) ? [] : [{ path: `${path}.value`, problem: 'is not a valid date' }]
    case 'group':
      return parseId('grp', condition.group_id)
        ? []
        : [{ path: `${path}.group_id`, problem: 'is not the id of a group' }]
    case 'engagement':
      return condition.flow_id === undefined || parseId('flw', condition.flow_id)
        ? []
        : [{ path: `${path}.flow_id`, problem: 'is not the id of a flow' }]
    case 'broadcast':
      return parseId('brc', condition.broadcast_id)
        ? []
        : [{ path: `${path}.broadcast_id`, problem: 'is not the id of a broadcast' }]
    case 'segment':
      return parseId('seg', condition.segment_id)
        ? []
        : [{ path: `${path}.segment_id`, problem: 'is not the id of a segment' }]
    case 'boolean':
    case 'status':
      return []
  }
}

function isDay(text: string): boolean {
  const time = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(time) && text > '0000-12-31' && new Date(time).toISOString().startsWith(text)
}

/** Returns the number of conditions in a filter. */
export const countConditions = (filter: Filter): number =>
  filter.type === 'all' || filter.type === 'any'
    ? filter.conditions.reduce((sum, each) => sum + countConditions(each), 0)
    : 1

export type Reference = { path: string } & (
  | { kind: 'group'; id: GroupId }
  | { kind: 'flow'; id: FlowId }
  | { kind: 'broadcast'; id: BroadcastId }
  | { kind: 'segment'; id: SegmentId }
)

/** Returns the records that the filter names, with the path of each. */
export function referencesOf(filter: Filter, path = 'filter'): Reference[] {
  switch (filter.type) {
    case 'all':
    case 'any':
      return filter.conditions.flatMap((each, index) => referencesOf(each, `${path}.conditions.${index}`))
    case 'group':
      return [{ path: `${path}.group_id`, kind: 'group', id: parseId('grp', filter.group_id)! }]
    case 'engagement':
      return filter.flow_id ? [{ path: `${path}.flow_id`, kind: 'flow', id: parseId('flw', filter.flow_id)! }] : []
    case 'broadcast':
      return [{ path: `${path}.broadcast_id`, kind: 'broadcast', id: parseId('brc', filter.broadcast_id)! }]
    case 'segment':
      return [{ path: `${path}.segment_id`, kind: 'segment', id: parseId('seg', filter.segment_id)! }]
    default:
      return []
  }
}

/** Returns the segments that the filter names. */
export const segmentIdsIn = (filter: Filter): SegmentId[] =>
  referencesOf(filter).flatMap((reference) => (reference.kind === 'segment' ? [reference.id] : []))
