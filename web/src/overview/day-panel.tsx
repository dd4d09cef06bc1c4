import { Button, Collapse, Group, Paper, Skeleton, Text, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { lazy, Suspense } from 'react'
import { type Column, DataTable } from '../ui/data-table.tsx'
import { count } from '../ui/numbers.ts'
import type { Day, Measure } from './measures.ts'

const DayChart = lazy(async () => ({ default: (await import('./day-chart.tsx')).DayChart }))

/** The chart of one figure, and the same as a table for whoever reads better so. */
export function DayPanel({ measure, series }: { measure: Measure; series: Day[] }) {
  const [asTable, { toggle }] = useDisclosure(false)
  const columns: Column<Day>[] = [
    { header: 'Day', phone: 'title', cell: (day) => day.date },
    ...measure.parts.map(
      (part): Column<Day> => ({ header: part.label, align: 'right', cell: (day) => count(part.of(day)) }),
    ),
  ]
  return (
    <Paper withBorder p="md" mt="sm" component="section" aria-label={`${measure.label} by day`}>
      <Group justify="space-between" mb="xs" gap="xs">
        <div>
          <Title order={2}>{measure.label} by day</Title>
          <Text c="dimmed" size="xs">
            {measure.bars ?? measure.meaning}
          </Text>
        </div>
        <Button size="compact-sm" variant="subtle" color="gray" onClick={toggle} aria-expanded={asTable}>
          {asTable ? 'Hide table' : 'Show as table'}
        </Button>
      </Group>
      <div aria-hidden>
        <Suspense fallback={<Skeleton height={280} />}>
          <DayChart measure={measure} series={series} />
        </Suspense>
      </div>
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
