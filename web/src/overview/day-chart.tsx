import '@mantine/charts/styles.css'
import { BarChart } from '@mantine/charts'
import { count, shortCount } from '../ui/numbers.ts'
import type { Day, Measure } from './measures.ts'

const shortDay = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', timeZone: 'UTC' })
const longDay = new Intl.DateTimeFormat('en', { dateStyle: 'full', timeZone: 'UTC' })

const dateOf = (day: string) => new Date(`${day}T00:00:00Z`)

const ticksMax = 8

/** Evenly spaced, counted back from the last day, which always has a tick. */
function ticksOf(series: Day[]): string[] {
  const step = Math.max(1, Math.ceil(series.length / ticksMax))
  return series.filter((_, index) => (series.length - 1 - index) % step === 0).map((day) => day.date)
}

/** One bar per day. Loaded on demand: the chart library is as large as the rest of the app. */
export function DayChart({ measure, series }: { measure: Measure; series: Day[] }) {
  return (
    <BarChart
      h={280}
      data={series.map((day) => ({
        date: day.date,
        ...Object.fromEntries(measure.parts.map((part) => [part.key, part.of(day)])),
      }))}
      dataKey="date"
      type="stacked"
      series={measure.parts.map((part) => ({ name: part.key, label: part.label, color: part.color }))}
      withLegend={measure.parts.length > 1}
      legendProps={{ verticalAlign: 'top', height: 36 }}
      tickLine="none"
      valueFormatter={count}
      xAxisProps={{
        tickFormatter: (day: string) => shortDay.format(dateOf(day)),
        ticks: ticksOf(series),
        interval: 0,
      }}
      yAxisProps={{ tickFormatter: shortCount, allowDecimals: false, width: 44 }}
      tooltipProps={{ labelFormatter: (day) => (typeof day === 'string' ? longDay.format(dateOf(day)) : day) }}
      // Keyboards and screen readers use the table instead.
      barChartProps={{ accessibilityLayer: false }}
      barProps={{ isAnimationActive: false }}
      maxBarWidth={22}
    />
  )
}
