import { Button, Group, SegmentedControl, Text } from '@mantine/core'
import { IconMailForward, IconPlus } from '@tabler/icons-react'
import { Link } from 'react-router'
import type { FlowRow, FlowStatus } from '../../api/types.ts'
import { paths } from '../../paths.ts'
import type { Column } from '../../ui/data-table.tsx'
import { TableList } from '../../ui/list.tsx'
import { count, share } from '../../ui/numbers.ts'
import { RowLink } from '../../ui/row-link.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { Time } from '../../ui/time.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { FlowStatusBadge, kindLabels, UnpublishedBadge } from './flow-status.tsx'
import { useFlows } from './flows.api.ts'
import { FlowsFrame } from './flows-frame.tsx'

const statuses = [
  { value: '', label: 'All' },
  { value: 'active', label: 'Active' },
  { value: 'paused', label: 'Paused' },
  { value: 'draft', label: 'Draft' },
  { value: 'archived', label: 'Archived' },
]

const columns: Column<FlowRow>[] = [
  {
    header: 'Flow',
    phone: 'title',
    cell: (flow) => (
      <>
        <RowLink to={paths.flow(flow.id)}>{flow.name}</RowLink>
        <Text size="xs" c="dimmed" fw={400}>
          {flow.subject}
        </Text>
      </>
    ),
  },
  {
    header: 'Status',
    cell: (flow) => (
      <Group gap={6}>
        <FlowStatusBadge status={flow.status} />
        <UnpublishedBadge flow={flow} />
      </Group>
    ),
  },
  { header: 'Kind', phone: 'hide', cell: (flow) => kindLabels[flow.kind] },
  { header: 'Sent, 30 days', align: 'right', cell: ({ stats_30d: stats }) => count(stats.sent) },
  { header: 'Opened', align: 'right', cell: ({ stats_30d: stats }) => share(stats.opens_unique, stats.sent) },
  { header: 'Clicked', align: 'right', cell: ({ stats_30d: stats }) => share(stats.clicks_unique, stats.sent) },
  {
    header: 'Bounced',
    align: 'right',
    phone: 'hide',
    cell: ({ stats_30d: stats }) => share(stats.bounces, stats.sent),
  },
  { header: 'Updated', align: 'right', cell: (flow) => <Time at={flow.updated_at} /> },
]

export function FlowsPage() {
  const { filter, field, filtered } = useFilters('query', 'status')
  const flows = useFlows({ query: filter.query, status: filter.status as FlowStatus | '' })
  const add = (
    <Button component={Link} to={paths.starters} leftSection={<IconPlus size={16} aria-hidden />}>
      Create flow
    </Button>
  )
  return (
    <FlowsFrame actions={add}>
      <TableList
        label="Flows"
        query={flows}
        columns={columns}
        rowKey={({ id }) => id}
        filters={
          <>
            <SearchField label="Search flows" {...field('query')} />
            <SegmentedControl aria-label="Status" data={statuses} {...field('status')} />
          </>
        }
        empty={{
          title: 'No flows yet',
          icon: IconMailForward,
          action: add,
          children: 'Create a flow with a subject, HTML and the variables your app fills in.',
        }}
        notFound={filtered && { title: 'No flows found', children: 'Try another search or status.' }}
      />
    </FlowsFrame>
  )
}
