import { FilterSelect } from '../../ui/filters.tsx'
import type { MessageFilter } from './messages.api.ts'

const options = [
  { value: 'false', label: 'Without test emails' },
  { value: 'true', label: 'Only test emails' },
]

/** The value in the query string as a filter. Anything else is no filter. */
export const isTestFilter = (value: string): MessageFilter['is_test'] =>
  value === 'true' ? true : value === 'false' ? false : undefined

type Props = { value: string; onChange: (value: string | null) => void }

export function TestFilter({ value, onChange }: Props) {
  return <FilterSelect label="Test emails" placeholder="With test emails" data={options} {...{ value, onChange }} />
}
