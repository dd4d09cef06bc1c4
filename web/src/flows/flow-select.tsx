import { useQuery } from '@tanstack/react-query'
import type { ComponentProps } from 'react'
import { FilterSelect, optionsOf } from '../ui/filters.tsx'
import { flowFilterQuery } from './flows.api.ts'

type Props = Omit<ComponentProps<typeof FilterSelect>, 'label' | 'data'>

/** Filters by a flow. */
export function FlowSelect(props: Props) {
  const flows = useQuery(flowFilterQuery)
  return <FilterSelect label="Flow" placeholder="All flows" searchable data={optionsOf(flows.data)} {...props} />
}
