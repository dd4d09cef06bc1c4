import { Button } from '@mantine/core'
import { IconPencil, IconPlayerPause, IconPlayerPlay, IconTrash, IconUpload } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigate, useParams } from 'react-router'
import { messageOf } from '../../api/api-error.ts'
import type { EventExport } from '../../api/types.ts'
import { paths } from '../../paths.ts'
import { ActionMenu } from '../../ui/action-menu.tsx'
import { Copyable } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Facts } from '../../ui/facts.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Page } from '../../ui/page.tsx'
import { ErrorLine, Load } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { toast } from '../../ui/toast.tsx'
import { EventExportForm } from './event-export-form.tsx'
import {
  changeEventExport,
  deleteEventExport,
  eventExportQuery,
  testEventExport,
  useRefreshEventExports,
} from './event-exports.api.ts'
import { ExportHealth, placeOf } from './export-health.tsx'

const back = { to: paths.eventExports, label: 'Exports' }

export function EventExportPage() {
  const { id = '' } = useParams()
  const record = useQuery(eventExportQuery(id))
  if (record.data) return <EventExportView record={record.data} />
  return (
    <Page title="Export" back={back}>
      <Load query={record}>{() => null}</Load>
    </Page>
  )
}

function EventExportView({ record }: { record: EventExport }) {
  const [isEditing, setEditing] = useState(false)
  const refresh = useRefreshEventExports()
  const paused = record.status === 'paused'
  const toggle = useMutation({
    mutationFn: () => changeEventExport(record.id, { status: paused ? 'active' : 'paused' }),
    onSuccess: async () => {
      await refresh()
      toast(paused ? 'Export resumed.' : 'Export paused.')
    },
  })
  const trial = useMutation({ mutationFn: () => testEventExport(record.id) })

  return (
    <Page
      title={record.name}
      beside={<ExportHealth record={record} />}
      back={back}
      actions={
        <>
          <Button
            variant="default"
            leftSection={paused ? <IconPlayerPlay size={16} aria-hidden /> : <IconPlayerPause size={16} aria-hidden />}
            loading={toggle.isPending}
            onClick={() => toggle.mutate()}
          >
            {paused ? 'Resume' : 'Pause'}
          </Button>
          <Button
            leftSection={<IconUpload size={16} aria-hidden />}
            loading={trial.isPending}
            onClick={() => trial.mutate()}
          >
            Upload test file
          </Button>
          <ExportMenu record={record} edit={() => setEditing(true)} />
        </>
      }
    >
      {toggle.isError && <ErrorLine>{messageOf(toggle.error)}</ErrorLine>}
      {trial.isError && <ErrorLine>{messageOf(trial.error)}</ErrorLine>}
      {trial.data && <TestResult result={trial.data} />}
      {paused && (
        <Notice tone="warn" title="This export is paused">
          {record.paused_reason ?? 'Events are kept, and uploaded when it is resumed.'}
        </Notice>
      )}
      {record.last_error && (
        <Notice tone="bad" title={record.failing_since ? 'The last upload failed' : 'Events are missing'}>
          {record.last_error}
        </Notice>
      )}
      <Facts
        facts={[
          ['Place', <Copyable key="place" value={placeOf(record)} label="Copy place" />],
          ['Endpoint', record.endpoint],
          ['Region', record.region],
          ['Access key ID', record.access_key_id],
          ['Events', record.exported_events.toLocaleString('en')],
          ['Last file', record.last_file ? <Copyable key="file" value={record.last_file} label="Copy name" /> : '–'],
          ['Last upload', <Time key="last" at={record.last_exported_at} />],
          ['Created', <Time key="created" at={record.created_at} />],
        ]}
      />
      <Dialog opened={isEditing} onClose={() => setEditing(false)} size="lg" title="Edit export">
        {isEditing && (
          <EventExportForm
            record={record}
            action="Save"
            save={(input) => changeEventExport(record.id, input)}
            onSaved={() => {
              void refresh()
              toast('Export saved.')
              setEditing(false)
            }}
            onCancel={() => setEditing(false)}
          />
        )}
      </Dialog>
    </Page>
  )
}

function TestResult({ result }: { result: { succeeded: boolean; error: string | null } }) {
  if (result.succeeded) return <Notice tone="good" role="status" title="The test file was stored" />
  return (
    <Notice tone="bad" role="alert" title="The test file wasn’t stored">
      {result.error}
    </Notice>
  )
}

function ExportMenu({ record, edit }: { record: EventExport; edit: () => void }) {
  const refresh = useRefreshEventExports()
  const navigate = useNavigate()
  return (
    <ActionMenu
      actions={[
        { label: 'Edit', icon: IconPencil, run: edit },
        {
          label: 'Delete',
          icon: IconTrash,
          danger: true,
          confirm: {
            title: 'Delete export',
            action: 'Delete export',
            children: (
              <>
                Events are no longer uploaded to <strong>{placeOf(record)}</strong>. The files that are there stay.
              </>
            ),
            run: async () => {
              await deleteEventExport(record.id)
              await navigate(paths.eventExports)
              await refresh()
            },
          },
        },
      ]}
    />
  )
}
