import { Button, Collapse, Group, Paper, Skeleton, Text, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconTable } from '@tabler/icons-react'
import { lazy, type ReactNode, Suspense } from 'react'
import type { CountChartProps } from './count-chart.tsx'

const CountChart = lazy(async () => ({ default: (await import('./count-chart.tsx')).CountChart }))

type Props = CountChartProps & {
  title: string
  description: ReactNode
  mt?: 'sm' | 0
  mb?: 'xl' | 0
  empty: string
  /** The same data as a table. */
  table: () => ReactNode
}

/** A chart of counts over time, and the same data as a table. */
export function ChartPanel({ title, description, mt = 0, mb = 0, empty, table, ...chart }: Props) {
  const [asTable, { toggle }] = useDisclosure(false)
  const isEmpty = chart.data.every((entry) => chart.series.every(({ name }) => entry[name] === 0))
  return (
    <Paper withBorder p="md" mt={mt} mb={mb} component="section" aria-label={title}>
      <Group justify="space-between" mb="xs" gap="xs">
        <div>
          <Title order={2}>{title}</Title>
          <Text c="dimmed" size="xs">
            {description}
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
      {isEmpty ? (
        <Text c="dimmed" ta="center" py={110}>
          {empty}
        </Text>
      ) : (
        <div aria-hidden>
          <Suspense fallback={<Skeleton height={280} />}>
            <CountChart {...chart} />
          </Suspense>
        </div>
      )}
      <Collapse expanded={asTable}>{asTable && table()}</Collapse>
    </Paper>
  )
}
