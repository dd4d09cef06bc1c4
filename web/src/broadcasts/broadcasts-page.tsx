import { Button, Select, Text } from '@mantine/core'
import { IconPlus, IconSpeakerphone } from '@tabler/icons-react'
import { useState } from 'react'
import type { Broadcast, BroadcastStatus } from '../api/types.ts'
import { paths } from '../paths.ts'
import { useCreateRequest } from '../ui/create-request.ts'
import { type Column, DataTable } from '../ui/data-table.tsx'
import { Filters } from '../ui/filters.tsx'
import { LiveBadge } from '../ui/live-badge.tsx'
import { More } from '../ui/more.tsx'
import { count, share } from '../ui/numbers.ts'
import { Page } from '../ui/page.tsx'
import { RowLink } from '../ui/row-link.tsx'
import { Empty, Load } from '../ui/states.tsx'
import { DayAndClock, Time } from '../ui/time.tsx'
import { useFilters } from '../ui/use-filters.ts'
import { BroadcastBadge, broadcastStatusOptions } from './broadcast-status.tsx'
import { doneOf, useBroadcasts } from './broadcasts.api.ts'
import { NewBroadcastDialog } from './new-broadcast-dialog.tsx'

const columns: Column<Broadcast>[] = [
  {
    header: 'Broadcast',
    phone: 'title',
    minWidth: '240px',
    cell: (broadcast) => <RowLink to={paths.broadcast(broadcast.id)}>{broadcast.name}</RowLink>,
  },
  {
    header: 'Status',
    cell: (broadcast) => (
      <>
        <BroadcastBadge broadcast={broadcast} />
        {broadcast.status === 'scheduled' && broadcast.starts_at && (
          <Text size="xs" c="dimmed" mt={2}>
            for <DayAndClock at={broadcast.starts_at} />
          </Text>
        )}
      </>
    ),
  },
  {
    header: 'Recipients',
    align: 'right',
    cell: ({ recipients }) => (recipients === null ? '–' : count(recipients)),
  },
  {
    header: 'Progress',
    align: 'right',
    cell: (broadcast) => (broadcast.recipients === null ? '–' : share(doneOf(broadcast), broadcast.recipients)),
  },
  { header: 'Started', align: 'right', cell: ({ started_at }) => <Time at={started_at} none="–" /> },
  { header: 'Updated', align: 'right', phone: 'hide', cell: ({ updated_at }) => <Time at={updated_at} /> },
]

export function BroadcastsPage() {
  const { filter, set, filtered } = useFilters('status')
  const status = filter.status as BroadcastStatus | ''
  const broadcasts = useBroadcasts({ status })
  const [creating, setCreating] = useState(false)
  useCreateRequest(() => setCreating(true))
  const add = (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setCreating(true)}>
      Create broadcast
    </Button>
  )
  return (
    <Page
      wide
      title="Broadcasts"
      description="Send one email to many people: groups, segments, or both."
      beside={<LiveBadge pages={broadcasts} />}
      actions={add}
    >
      <Filters>
        <Select
          aria-label="Status"
          placeholder="Any status"
          clearable
          data={broadcastStatusOptions}
          value={status || null}
          onChange={(value) => set('status', value)}
        />
      </Filters>
      <Load
        query={broadcasts}
        isEmpty={(list) => list.length === 0}
        empty={
          filtered ? (
            <Empty title="No broadcasts found">Try another status.</Empty>
          ) : (
            <Empty title="No broadcasts yet" icon={<IconSpeakerphone size={32} aria-hidden />} action={add}>
              Choose a flow and an audience, check it, and send it now or later.
            </Empty>
          )
        }
      >
        {(list) => <DataTable label="Broadcasts" columns={columns} rows={list} rowKey={({ id }) => id} />}
      </Load>
      <More pages={broadcasts} />
      <NewBroadcastDialog opened={creating} onClose={() => setCreating(false)} />
    </Page>
  )
}
