import { Button, Text } from '@mantine/core'
import { IconDatabaseExport, IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import type { EventExport } from '../../api/types.ts'
import { paths } from '../../paths.ts'
import { GuideLink } from '../../ui/api-reference.tsx'
import type { Column } from '../../ui/data-table.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TableList } from '../../ui/list.tsx'
import { RowLink } from '../../ui/row-link.tsx'
import { Section } from '../../ui/section.tsx'
import { Time } from '../../ui/time.tsx'
import { EventExportForm } from './event-export-form.tsx'
import { createEventExport, eventExportsQuery, useRefreshEventExports } from './event-exports.api.ts'
import { ExportHealth, placeOf } from './export-health.tsx'

const columns: Column<EventExport>[] = [
  {
    header: 'Export',
    phone: 'title',
    cell: (record) => (
      <>
        <RowLink to={paths.eventExport(record.id)}>{record.name}</RowLink>
        <Text size="xs" c="dimmed" className="break">
          {placeOf(record)}
        </Text>
      </>
    ),
  },
  { header: 'Health', cell: (record) => <ExportHealth record={record} /> },
  { header: 'Events', align: 'right', cell: (record) => record.exported_events.toLocaleString('en') },
  { header: 'Last file', align: 'right', cell: (record) => <Time at={record.last_exported_at} /> },
]

export function EventExportsPage() {
  const exports = useQuery(eventExportsQuery)
  const [creating, setCreating] = useState(false)
  const add = (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setCreating(true)}>
      Add export
    </Button>
  )
  return (
    <Section
      title="Exports"
      titleHidden
      description={
        <>
          Upload all events to your S3-compatible storage every five minutes, for a data warehouse or an archive. See
          the <GuideLink name="event-exports">guide</GuideLink>.
        </>
      }
      actions={exports.data && exports.data.length > 0 && add}
    >
      <TableList
        label="Exports"
        query={exports}
        columns={columns}
        rowKey={({ id }) => id}
        empty={{
          title: 'No exports yet',
          icon: IconDatabaseExport,
          action: add,
          children: 'Add a bucket, and events arrive in it as compressed files.',
        }}
      />
      {creating && <CreateDialog onClose={() => setCreating(false)} />}
    </Section>
  )
}

function CreateDialog({ onClose }: { onClose: () => void }) {
  const refresh = useRefreshEventExports()
  const navigate = useNavigate()
  return (
    <Dialog opened onClose={onClose} size="lg" title="Add export">
      <EventExportForm
        action="Create export"
        save={createEventExport}
        onSaved={(record) => {
          void refresh()
          void navigate(paths.eventExport(record.id))
        }}
        onCancel={onClose}
      />
    </Dialog>
  )
}
