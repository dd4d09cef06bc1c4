import type { Filter } from '../../api/types.ts'
import { pluralize } from '../../ui/numbers.ts'
import { eventTerms, fieldLabels, needsDays, needsNoValue, operatorLabels } from './filter-terms.ts'

/** Names of the groups, flows, segments and broadcasts that a filter may contain, by id. */
export type Names = ReadonlyMap<string, string>

/** The filter in words: “plan is pro and has not clicked in any email in the last 60 days”. */
export function describeFilter(filter: Filter, names: Names, nested = false): string {
  switch (filter.type) {
    case 'all':
    case 'any': {
      const text = filter.conditions
        .map((each) => describeFilter(each, names, filter.conditions.length > 1))
        .join(filter.type === 'all' ? ' and ' : ' or ')
      return nested && filter.conditions.length > 1 ? `(${text})` : text
    }
    case 'group':
      return `${operatorLabels.group[filter.operator]} ${names.get(filter.group_id) ?? 'a deleted group'}`
    case 'segment':
      return `${operatorLabels.segment[filter.operator]} ${names.get(filter.segment_id) ?? 'a deleted segment'}`
    case 'broadcast':
      return `${operatorLabels.broadcast[filter.operator]} ${names.get(filter.broadcast_id) ?? 'an older broadcast'}`
    case 'status':
      return `${operatorLabels.status[filter.operator]} ${filter.value.replace('_', ' ')}`
    case 'engagement': {
      const { at_least: times = 1, within_days: days, flow_id: flow } = filter
      return [
        eventTerms[filter.event][filter.operator].toLowerCase(),
        flow ? (names.get(flow) ?? 'a deleted flow') : 'any email',
        ...(times > 1 ? [`at least ${times} times`] : []),
        ...(days ? [`in the last ${pluralize(days, 'day', 'days')}`] : []),
        ...(filter.include_machines ? ['including automated'] : []),
      ].join(' ')
    }
    default: {
      const { type, field, operator } = filter
      const name = field.startsWith('attributes.')
        ? field.slice('attributes.'.length)
        : fieldLabels[field as keyof typeof fieldLabels].toLowerCase()
      const words = `${name} ${operatorLabels[type][operator]}`
      if (needsNoValue(operator) || type === 'boolean') return words
      if (type === 'date' && needsDays(operator)) return `${words} ${pluralize(filter.days ?? 0, 'day', 'days')}`
      return `${words} ${filter.value}`
    }
  }
}
