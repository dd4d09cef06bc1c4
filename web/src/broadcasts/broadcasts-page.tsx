import { Anchor, Button, Text } from '@mantine/core'
import { IconPlus, IconSpeakerphone } from '@tabler/icons-react'
import { useState } from 'react'
import { Link } from 'react-router'
import type { Broadcast, BroadcastStatus } from '../api/types.ts'
import { paths } from '../paths.ts'
import { useCreateRequest } from '../ui/create-request.ts'
import type { Column } from '../ui/data-table.tsx'
import { FilterSelect } from '../ui/filters.tsx'
import { TableList } from '../ui/list.tsx'
import { LiveBadge } from '../ui/live-badge.tsx'
import { count, share } from '../ui/numbers.ts'
import { Page } from '../ui/page.tsx'
import { RowLink } from '../ui/row-link.tsx'
import { SearchField } from '../ui/search-field.tsx'
import { Time } from '../ui/time.tsx'
import { useFilters } from '../ui/use-filters.ts'
import { BroadcastBadge, broadcastStatusOptions } from './broadcast-status.tsx'
import { doneOf, useBroadcasts } from './broadcasts.api.ts'
import { NewBroadcastDialog } from './new-broadcast-dialog.tsx'
import { type People, peopleAt } from './people.ts'
import { ZonedTime } from './zoned-time.tsx'

/** A share of the emails sent, as in the results of a broadcast. It leads to its people there. */
function rateColumn(
  header: string,
  people: People,
  numberOf: (broadcast: Broadcast) => number | undefined,
): Column<Broadcast> {
  const cell = (broadcast: Broadcast) => {
    const { id, counts } = broadcast
    const [value, sent] = [numberOf(broadcast), counts.sent + counts.bounced]
    // An empty cell takes no space on a phone.
    if (value === undefined || sent === 0) return null
    return (
      <Anchor
        component={Link}
        to={{ pathname: paths.broadcast(id), ...peopleAt(people) }}
        inherit
        underline="always"
        title={count(value)}
        aria-label={`${header}: ${share(value, sent)}`}
      >
        {share(value, sent)}
      </Anchor>
    )
  }
  return { header, align: 'right', cell }
}

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
      <div>
        <BroadcastBadge broadcast={broadcast} />
        {broadcast.status === 'scheduled' && broadcast.starts_at && (
          <Text size="xs" c="dimmed" mt={2}>
            for <ZonedTime at={broadcast.starts_at} />
          </Text>
        )}
        {isUnfinished(broadcast) && (
          <Text size="xs" c="dimmed" mt={2}>
            {share(doneOf(broadcast), broadcast.recipients ?? 0)} done
          </Text>
        )}
      </div>
    ),
  },
  {
    header: 'Recipients',
    align: 'right',
    cell: ({ recipients }) => recipients !== null && count(recipients),
  },
  rateColumn('Delivered', 'delivered', ({ counts }) => counts.sent),
  rateColumn('Opened', 'opened', ({ results }) => results?.opened),
  rateColumn('Clicked', 'clicked', ({ results }) => results?.clicked),
  { header: 'Started', align: 'right', cell: ({ started_at }) => started_at && <Time at={started_at} /> },
]

const isUnfinished = ({ status, recipients }: Broadcast) =>
  (status === 'sending' || status === 'paused') && recipients !== null && recipients > 0

export function BroadcastsPage() {
  const { filter, field, filtered } = useFilters('query', 'status')
  const broadcasts = useBroadcasts({ query: filter.query, status: filter.status as BroadcastStatus | '' })
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
      actions={
        <>
          <Button variant="default" component={Link} to={paths.compareBroadcasts}>
            Compare
          </Button>
          {add}
        </>
      }
    >
      <TableList
        label="Broadcasts"
        query={broadcasts}
        columns={columns}
        rowKey={({ id }) => id}
        filters={
          <>
            <SearchField label="Search broadcasts" placeholder="Search by name" {...field('query')} />
            <FilterSelect label="Status" placeholder="Any status" data={broadcastStatusOptions} {...field('status')} />
          </>
        }
        empty={{
          title: 'No broadcasts yet',
          icon: IconSpeakerphone,
          action: add,
          children: 'Choose a flow and an audience, check it, and send it now or later.',
        }}
        notFound={filtered && { title: 'No broadcasts found', children: 'Try another search or status.' }}
      />
      <NewBroadcastDialog opened={creating} onClose={() => setCreating(false)} />
    </Page>
  )
}
