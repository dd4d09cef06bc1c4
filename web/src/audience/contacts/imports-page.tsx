import { Button } from '@mantine/core'
import { IconFileImport, IconUpload } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import type { ContactImport } from '../../api/types.ts'
import { paths } from '../../paths.ts'
import type { Column } from '../../ui/data-table.tsx'
import { TableList } from '../../ui/list.tsx'
import { count } from '../../ui/numbers.ts'
import { RowLink } from '../../ui/row-link.tsx'
import { StatusBadge, type Tone } from '../../ui/status-badge.tsx'
import { Time } from '../../ui/time.tsx'
import { importsQuery } from './contacts.api.ts'
import { ContactsFrame } from './contacts-frame.tsx'

const badges: Record<ContactImport['status'], { tone: Tone; label: string }> = {
  queued: { tone: 'info', label: 'Queued' },
  running: { tone: 'info', label: 'Running' },
  checked: { tone: 'info', label: 'Checked' },
  done: { tone: 'good', label: 'Done' },
  failed: { tone: 'bad', label: 'Failed' },
  cancelled: { tone: 'neutral', label: 'Cancelled' },
}

export function ImportStatusBadge({ of: { status, undo } }: { of: Pick<ContactImport, 'status' | 'undo'> }) {
  if (undo?.status === 'done') return <StatusBadge tone="neutral">Undone</StatusBadge>
  if (undo) return <StatusBadge tone="info">Undoing</StatusBadge>
  const { tone, label } = badges[status] ?? badges.queued
  return <StatusBadge tone={tone}>{label}</StatusBadge>
}

const columns: Column<ContactImport>[] = [
  {
    header: 'File',
    phone: 'title',
    cell: (one) => <RowLink to={paths.contactImport(one.id)}>{one.filename ?? 'CSV file'}</RowLink>,
  },
  { header: 'Status', cell: (one) => <ImportStatusBadge of={one} /> },
  { header: 'Created', align: 'right', cell: (one) => (one.dry_run ? '–' : count(one.created)) },
  { header: 'Updated', align: 'right', cell: (one) => (one.dry_run ? '–' : count(one.updated)) },
  { header: 'Rejected', align: 'right', cell: (one) => (one.dry_run ? '–' : count(one.rejected)) },
  { header: 'Started', align: 'right', cell: (one) => <Time at={one.created_at} /> },
]

export function ImportsPage() {
  const imports = useQuery(importsQuery)
  const add = (
    <Button component={Link} to={paths.newImport} leftSection={<IconUpload size={16} aria-hidden />}>
      Import CSV
    </Button>
  )
  return (
    <ContactsFrame tab="Imports" actions={add}>
      <TableList
        label="Imports"
        query={imports}
        columns={columns}
        rowKey={({ id }) => id}
        empty={{
          title: 'No imports yet',
          icon: IconFileImport,
          action: add,
          children: 'Upload a CSV file and choose how to import each column.',
        }}
      />
    </ContactsFrame>
  )
}
