import { useQuery } from '@tanstack/react-query'
import type { BroadcastDetail, BroadcastLink } from '../api/types.ts'
import { type Column, DataTable } from '../ui/data-table.tsx'
import { count, share } from '../ui/numbers.ts'
import { Section } from '../ui/section.tsx'
import { Empty, Load } from '../ui/states.tsx'
import { linksQuery } from './broadcasts.api.ts'

export function Links({ broadcast }: { broadcast: BroadcastDetail }) {
  const links = useQuery(linksQuery(broadcast.id))
  const columns: Column<BroadcastLink>[] = [
    { header: 'Link', phone: 'title', cell: ({ url }) => <span className="break">{url}</span> },
    { header: 'Clicks', align: 'right', cell: ({ clicks }) => count(clicks) },
    { header: 'People', align: 'right', cell: ({ contacts }) => count(contacts) },
    { header: 'Of sent', align: 'right', cell: ({ contacts }) => share(contacts, broadcast.counts.sent) },
  ]
  return (
    <Section title="Links" description="The links that were clicked most often.">
      <Load
        query={links}
        isEmpty={(list) => list.length === 0}
        empty={<Empty title="No clicks yet">Clicked links will appear here.</Empty>}
      >
        {(list) => <DataTable label="Links" columns={columns} rows={list} rowKey={({ url }) => url} />}
      </Load>
    </Section>
  )
}
