import { TextInput } from '@mantine/core'
import { rangeOf, type Span, spanDays, today } from '../engagement/overview/range.ts'
import { FilterSelect } from './filters.tsx'

const custom = 'custom'
const options = [
  { value: '1', label: 'Today' },
  ...spanDays.map((days) => ({ value: String(days), label: `Last ${days} days` })),
  { value: custom, label: 'Custom dates' },
]

type Field = { value: string; onChange: (value: string | null) => void }

/** The filters in the query string that select a period: a number of days, or `custom` with the first and the last day. */
export type PeriodFilter = { period: string; from: string; to: string }

/** The dates of the filter in the time zone of the organization. Empty for no limit. */
export function datesOf({ period, from, to }: PeriodFilter, timezone: string | undefined) {
  if (period === custom) return { start_date: from, end_date: to }
  const span: Span = { days: Number(period) }
  if (!timezone || !options.some(({ value }) => value === period)) return { start_date: '', end_date: '' }
  return { start_date: rangeOf(span, timezone).start_date, end_date: '' }
}

type Props = { period: Field; from: Field; to: Field; timezone: string | undefined }

export function DateFilter({ period, from, to, timezone = 'UTC' }: Props) {
  return (
    <>
      <FilterSelect label="Date" placeholder="Any time" data={options} {...period} />
      {period.value === custom && (
        <>
          <DayField label="From" max={to.value || today(timezone)} {...from} />
          <DayField label="To" max={today(timezone)} {...(from.value && { min: from.value })} {...to} />
        </>
      )}
    </>
  )
}

function DayField({ label, onChange, ...props }: Field & { label: string; min?: string; max: string }) {
  return (
    <TextInput
      type="date"
      aria-label={label}
      title={label}
      onChange={(event) => onChange(event.currentTarget.value)}
      {...props}
    />
  )
}
