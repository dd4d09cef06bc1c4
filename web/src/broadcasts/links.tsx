import { Anchor } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import type { BroadcastDetail, BroadcastLink } from '../api/types.ts'
import type { Column } from '../ui/data-table.tsx'
import { TableList } from '../ui/list.tsx'
import { count, share } from '../ui/numbers.ts'
import { Section } from '../ui/section.tsx'
import { linksQuery } from './broadcasts.api.ts'
import { peopleAt } from './people.ts'

export const clicksDeleted = 'The server has deleted old clicks: the numbers are those that were counted before.'

export function Links({ broadcast }: { broadcast: BroadcastDetail }) {
  const links = useQuery(linksQuery(broadcast.id))
  const { counts, links_complete: isComplete } = broadcast
  const columns: Column<BroadcastLink>[] = [
    { header: 'Link', phone: 'title', cell: ({ url }) => <span className="break">{url}</span> },
    { header: 'Clicks', align: 'right', cell: ({ clicks }) => count(clicks) },
    {
      header: 'People',
      align: 'right',
      cell: ({ url, contacts }) => (
        <Anchor component={Link} to={peopleAt('clicked', url)} aria-label={`${count(contacts)} clicked ${url}`}>
          {count(contacts)}
        </Anchor>
      ),
    },
    { header: 'Clicked', align: 'right', cell: ({ contacts }) => share(contacts, counts.sent + counts.bounced) },
  ]
  return (
    <Section
      title="Links"
      description={`The links that were clicked most often.${isComplete ? '' : ` ${clicksDeleted}`}`}
    >
      <TableList
        label="Links"
        query={links}
        columns={columns}
        rowKey={({ url }) => url}
        empty={
          isComplete
            ? { title: 'No clicks yet', children: 'Clicked links will appear here.' }
            : { title: 'No clicks were counted', children: 'The server has deleted the clicks of this time.' }
        }
      />
    </Section>
  )
}
