import { MultiSelect } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useSearchParams } from 'react-router'
import type { ComparedBroadcast } from '../api/types.ts'
import { paths } from '../paths.ts'
import { type Column, DataTable } from '../ui/data-table.tsx'
import { count } from '../ui/numbers.ts'
import { Page } from '../ui/page.tsx'
import { Rate } from '../ui/rate.tsx'
import { RowLink } from '../ui/row-link.tsx'
import { Empty, Load } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import { comparedMax, comparisonQuery, sentBroadcastsQuery } from './broadcasts.api.ts'
import { peopleAt } from './people.ts'

const typingPauseMs = 250

type Measure = 'delivered' | 'opened' | 'clicked' | 'unsubscribed' | 'complained'

const rateColumn = (header: string, measure: Measure): Column<ComparedBroadcast> => ({
  header,
  align: 'right',
  cell: (broadcast) => (
    <Rate
      value={broadcast[measure]}
      sent={broadcast.sent}
      to={{ pathname: paths.broadcast(broadcast.id), ...peopleAt(measure) }}
      label={`${header}: ${count(broadcast[measure])}`}
    />
  ),
})

const columns: Column<ComparedBroadcast>[] = [
  {
    header: 'Broadcast',
    phone: 'title',
    minWidth: '220px',
    cell: ({ id, name }) => <RowLink to={paths.broadcast(id)}>{name}</RowLink>,
  },
  { header: 'Started', cell: ({ started_at: at }) => <Time at={at} none="–" /> },
  { header: 'Sent', align: 'right', cell: ({ sent }) => count(sent) },
  rateColumn('Delivered', 'delivered'),
  rateColumn('Opened', 'opened'),
  rateColumn('Clicked', 'clicked'),
  rateColumn('Unsubscribed', 'unsubscribed'),
  rateColumn('Complaints', 'complained'),
]

/** The results of several broadcasts side by side. */
export function ComparePage() {
  const [search, setSearch] = useSearchParams()
  const [typed, setTyped] = useState('')
  const [query] = useDebouncedValue(typed.trim(), typingPauseMs)
  const found = useQuery(sentBroadcastsQuery(query))
  // Without a choice, the server compares the last ones.
  const ids = search.get('ids')?.split(',').filter(Boolean).slice(0, comparedMax)
  const comparison = useQuery(comparisonQuery(ids))
  const named = new Map([...(comparison.data ?? []), ...(found.data ?? [])].map(({ id, name }) => [id, name]))
  const chosen = ids ?? comparison.data?.map(({ id }) => id) ?? []
  return (
    <Page
      wide
      title="Compare broadcasts"
      description="Rates are % of sent. Automated opens and clicks don’t count."
      back={{ to: paths.broadcasts, label: 'Broadcasts' }}
    >
      <MultiSelect
        label="Broadcasts"
        description={`Up to ${comparedMax}`}
        placeholder="Add a broadcast"
        mb="md"
        searchable
        maxValues={comparedMax}
        data={[...named].map(([value, label]) => ({ value, label }))}
        onSearchChange={setTyped}
        value={chosen}
        onChange={(next) => setSearch({ ids: next.join() }, { replace: true })}
        nothingFoundMessage="No sent broadcasts found"
      />
      {ids?.length === 0 ? (
        <NothingToCompare />
      ) : (
        <Load query={comparison} isEmpty={(rows) => rows.length === 0} empty={<NothingToCompare />}>
          {(rows) => <DataTable label="Comparison" columns={columns} rows={rows} rowKey={({ id }) => id} />}
        </Load>
      )}
    </Page>
  )
}

const NothingToCompare = () => <Empty title="Nothing to compare yet">Choose broadcasts that were sent.</Empty>
