import { useQuery } from '@tanstack/react-query'
import type { BroadcastDetail, BroadcastLink } from '../api/types.ts'
import type { Column } from '../ui/data-table.tsx'
import { TableList } from '../ui/list.tsx'
import { count } from '../ui/numbers.ts'
import { Rate } from '../ui/rate.tsx'
import { Section } from '../ui/section.tsx'
import { beingCounted, linksQuery, sentOf } from './broadcasts.api.ts'
import { peopleAt } from './people.ts'

const clicksDeleted = 'The server has deleted old clicks: the numbers are those that were counted before.'

export function Links({ broadcast }: { broadcast: BroadcastDetail }) {
  const links = useQuery(linksQuery(broadcast.id))
  const { links_complete: isComplete } = broadcast
  const columns: Column<BroadcastLink>[] = [
    { header: 'Link', phone: 'title', cell: ({ url }) => <span className="break">{url}</span> },
    {
      header: 'Clicked',
      align: 'right',
      cell: ({ url, contacts }) => (
        <Rate
          value={contacts}
          sent={sentOf(broadcast)}
          to={peopleAt('clicked', { link: url })}
          label={`${count(contacts)} clicked ${url}`}
        />
      ),
    },
    { header: 'Total clicks', align: 'right', cell: ({ clicks }) => count(clicks) },
  ]
  return (
    <Section title="Links" description={isComplete ? undefined : clicksDeleted}>
      <TableList
        label="Links"
        query={links}
        columns={columns}
        rowKey={({ url }) => url}
        empty={
          broadcast.results_counted_at === null
            ? { title: beingCounted }
            : isComplete
              ? { title: 'No clicks yet', children: 'Clicked links will appear here.' }
              : { title: 'No clicks were counted', children: 'The server has deleted the clicks of this time.' }
        }
      />
    </Section>
  )
}
