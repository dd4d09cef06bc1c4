import '@mantine/charts/styles.css'
import { BarChart } from '@mantine/charts'
import { count, shortCount } from './numbers.ts'

type Series = { name: string; label: string; color: string }

export type CountChartProps = {
  /** One entry for each bar: `at`, and the counts by the name of their series. */
  data: ({ at: string } & Record<string, string | number>)[]
  series: Series[]
  /** Whether the bars of the series stand on each other. */
  stacked: boolean
  tickText: (at: string) => string
  tooltipText: (at: string) => string
}

const ticksMax = { wide: 8, narrow: 4 }

/** Evenly spaced, counted back from the last bar, which always has a tick. */
function ticksOf(data: CountChartProps['data']): string[] {
  const width = matchMedia('(max-width: 48em)').matches ? 'narrow' : 'wide'
  const step = Math.max(1, Math.ceil(data.length / ticksMax[width]))
  return data.filter((_, index) => (data.length - 1 - index) % step === 0).map(({ at }) => at)
}

/** Counts over time. Loaded on demand: the chart library is as large as the rest of the app. */
export function CountChart({ data, series, stacked, tickText, tooltipText }: CountChartProps) {
  return (
    <BarChart
      h={280}
      data={data}
      dataKey="at"
      type={stacked ? 'stacked' : 'default'}
      series={series}
      withLegend={series.length > 1}
      legendProps={{ verticalAlign: 'top', height: 36 }}
      tickLine="none"
      valueFormatter={count}
      xAxisProps={{ tickFormatter: tickText, ticks: ticksOf(data), interval: 0 }}
      yAxisProps={{ tickFormatter: shortCount, allowDecimals: false, width: 44 }}
      tooltipProps={{ labelFormatter: (at) => (typeof at === 'string' ? tooltipText(at) : at) }}
      // Keyboards and screen readers use the table instead.
      barChartProps={{ accessibilityLayer: false, ...(!stacked && { barGap: 0, barCategoryGap: 1 }) }}
      barProps={{ isAnimationActive: false }}
      maxBarWidth={22}
    />
  )
}
