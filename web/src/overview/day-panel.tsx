import { Button, Collapse, Group, Paper, Skeleton, Text, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconTable } from '@tabler/icons-react'
import { lazy, Suspense } from 'react'
import { type Column, DataTable } from '../ui/data-table.tsx'
import { count, share } from '../ui/numbers.ts'
import { calendarDay } from '../ui/time.tsx'
import type { Day, Measure } from './measures.ts'

const DayChart = lazy(async () => ({ default: (await import('./day-chart.tsx')).DayChart }))

const isEmpty = (measure: Measure, series: Day[]) =>
  series.every((day) => measure.parts.every((part) => part.of(day) === 0))

/** The share of the emails sent on the same day. */
const rateColumn = (measure: Measure): Column<Day> => ({
  header: 'Rate',
  align: 'right',
  cell: (day) => share(measure.value(day), day.emailSent.unique),
})

/** The chart of one measure, and the same data as a table. */
export function DayPanel({ measure, series, mt = 'sm' }: { measure: Measure; series: Day[]; mt?: 'sm' | 0 }) {
  const [asTable, { toggle }] = useDisclosure(false)
  const columns: Column<Day>[] = [
    { header: 'Day', phone: 'title', cell: (day) => calendarDay(day.date) },
    ...measure.parts.map(
      (part): Column<Day> => ({ header: part.label, align: 'right', cell: (day) => count(part.of(day)) }),
    ),
    ...(measure.rated ? [rateColumn(measure)] : []),
  ]
  return (
    <Paper withBorder p="md" mt={mt} component="section" aria-label={`${measure.label} by day`}>
      <Group justify="space-between" mb="xs" gap="xs">
        <div>
          <Title order={2}>{measure.label} by day</Title>
          <Text c="dimmed" size="xs">
            {measure.bars ?? measure.meaning}
          </Text>
        </div>
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<IconTable size={15} aria-hidden />}
          onClick={toggle}
          aria-expanded={asTable}
        >
          {asTable ? 'Hide table' : 'Show as table'}
        </Button>
      </Group>
      {isEmpty(measure, series) ? (
        <Text c="dimmed" ta="center" py={110}>
          No data in this period
        </Text>
      ) : (
        <div aria-hidden>
          <Suspense fallback={<Skeleton height={280} />}>
            <DayChart measure={measure} series={series} />
          </Suspense>
        </div>
      )}
      <Collapse expanded={asTable}>
        {asTable && (
          <DataTable
            label={`${measure.label} by day`}
            columns={columns}
            rows={series.toReversed()}
            rowKey={(day) => day.date}
          />
        )}
      </Collapse>
    </Paper>
  )
}
