import type { SelectProps } from '@mantine/core'
import { RecordSelect } from '../../ui/record-select.tsx'
import { flowChoicesQuery, flowNameQuery } from './flows.api.ts'

type Props = Omit<SelectProps, 'label' | 'data' | 'value'> & { value: string }

/** Filters by a flow. The flows of emails without a flow are offered as well. */
export function FlowSelect(props: Props) {
  return (
    <RecordSelect
      aria-label="Flow"
      placeholder="All flows"
      plural="flows"
      clearable
      search={(text) => flowChoicesQuery(text, { include_built_in: true })}
      find={flowNameQuery}
      {...props}
    />
  )
}
