import { ChartPanel } from '../../ui/chart-panel.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { count, share } from '../../ui/numbers.ts'
import { calendarDay } from '../../ui/time.tsx'
import { type Day, type Measure, sentOf } from './measures.ts'

const shortDay = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', timeZone: 'UTC' })
const longDay = new Intl.DateTimeFormat('en', { dateStyle: 'full', timeZone: 'UTC' })

const dateOf = (day: string) => new Date(`${day}T00:00:00Z`)

/** The share of the emails sent on the same day. */
const rateColumn = (measure: Measure): Column<Day> => ({
  header: 'Rate',
  align: 'right',
  cell: (day) => share(measure.value(day), sentOf(day)),
})

/** The chart of one measure: one bar per day. */
export function DayPanel({ measure, series, mt = 'sm' }: { measure: Measure; series: Day[]; mt?: 'sm' | 0 }) {
  const title = `${measure.label} by day`
  const columns: Column<Day>[] = [
    { header: 'Day', phone: 'title', cell: (day) => calendarDay(day.date) },
    ...measure.parts.map(
      (part): Column<Day> => ({ header: part.label, align: 'right', cell: (day) => count(part.of(day)) }),
    ),
    ...(measure.rated ? [rateColumn(measure)] : []),
  ]
  return (
    <ChartPanel
      title={title}
      description={measure.bars ?? measure.meaning}
      mt={mt}
      empty="No data in this period"
      data={series.map((day) => ({
        at: day.date,
        ...Object.fromEntries(measure.parts.map((part) => [part.key, part.of(day)])),
      }))}
      series={measure.parts.map(({ key, label, color }) => ({ name: key, label, color }))}
      stacked
      tickText={(day) => shortDay.format(dateOf(day))}
      tooltipText={(day) => longDay.format(dateOf(day))}
      table={() => <DataTable label={title} columns={columns} rows={series.toReversed()} rowKey={(day) => day.date} />}
    />
  )
}
