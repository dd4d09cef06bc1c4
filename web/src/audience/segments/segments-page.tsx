import { Button, Text } from '@mantine/core'
import { IconFilter, IconPlus } from '@tabler/icons-react'
import { Link } from 'react-router'
import type { Segment } from '../../api/types.ts'
import { paths } from '../../paths.ts'
import { ActionMenu } from '../../ui/action-menu.tsx'
import { CopyIdItem } from '../../ui/copy-id-item.tsx'
import type { Column } from '../../ui/data-table.tsx'
import { TableList } from '../../ui/list.tsx'
import { RowLink } from '../../ui/row-link.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { ContactsFrame } from '../contacts/contacts-frame.tsx'
import { describeFilter, type Names } from './describe-filter.ts'
import { MatchingCount } from './matching-count.tsx'
import { useNames, useSegments } from './segments.api.ts'

export function SegmentsPage() {
  const { filter, field, filtered } = useFilters('query')
  const segments = useSegments(filter.query)
  const names = useNames()
  const add = (
    <Button component={Link} to={paths.newSegment} leftSection={<IconPlus size={16} aria-hidden />}>
      Create segment
    </Button>
  )
  return (
    <ContactsFrame tab="Segments" actions={add}>
      <TableList
        label="Segments"
        query={segments}
        columns={columns(names)}
        rowKey={({ id }) => id}
        filters={<SearchField label="Search segments" {...field('query')} />}
        empty={{
          title: 'No segments yet',
          icon: IconFilter,
          action: add,
          children: 'A segment is a saved filter, such as customers on a plan who did not click in 60 days.',
        }}
        notFound={filtered && { title: 'No segments found', children: 'Try another search.' }}
      />
    </ContactsFrame>
  )
}

const columns = (names: Names): Column<Segment>[] => [
  {
    header: 'Segment',
    phone: 'title',
    minWidth: '240px',
    cell: (segment) => (
      <>
        <RowLink to={paths.segment(segment.id)}>{segment.name}</RowLink>
        <Text size="xs" c="dimmed" fw={400} className="two-lines">
          {describeFilter(segment.filter, names)}
        </Text>
      </>
    ),
  },
  {
    header: 'Contacts',
    align: 'right',
    cell: (segment) => <MatchingCount filter={{ segment_id: segment.id }} refined={false} />,
  },
  {
    header: 'Actions',
    align: 'right',
    phone: 'corner',
    cell: (segment) => (
      <ActionMenu
        row={segment.name}
        actions={[{ label: 'View contacts', to: `${paths.contacts}?segment=${segment.id}` }]}
      >
        <CopyIdItem id={segment.id} />
      </ActionMenu>
    ),
  },
]
