import { Anchor, Text } from '@mantine/core'
import { useState } from 'react'
import type { FlowResults } from '../../../api/types.ts'
import type { Column } from '../../../ui/data-table.tsx'
import { count } from '../../../ui/numbers.ts'
import { Rate } from '../../../ui/rate.tsx'
import { LinkClicks } from './link-clicks.tsx'
import type { Period } from './results.api.ts'
import { TableSection } from './table-section.tsx'

type Row = FlowResults['links'][number]
type Props = { flowId: string; fileName: string; period: Period; results: FlowResults }

/** A link is easier to recognise without its scheme. */
const shortLink = (link: string) => link.replace(/^https?:\/\//, '').replace(/\/$/, '')

export function LinksSection({ flowId, fileName, period, results }: Props) {
  const [shown, setShown] = useState<string>()
  const { sent } = results.totals
  const columns: Column<Row>[] = [
    {
      header: 'Link',
      phone: 'title',
      cell: ({ link }) =>
        link === null ? (
          <Text span c="dimmed">
            All other links
          </Text>
        ) : (
          <Anchor
            component="button"
            type="button"
            ta="left"
            className="break"
            title={link}
            onClick={() => setShown(link)}
          >
            {shortLink(link)}
          </Anchor>
        ),
    },
    {
      header: 'Clicked',
      align: 'right',
      cell: (row) => (row.clicks_unique === null ? '–' : <Rate value={row.clicks_unique} sent={sent} />),
    },
    { header: 'Total clicks', align: 'right', cell: (row) => count(row.clicks) },
    { header: 'Automated', align: 'right', cell: (row) => count(row.clicks_machine) },
  ]
  return (
    <TableSection
      title="Links"
      description="Clicks by people. Choose a link to see who clicked. Parts that differ for each recipient are shown as …"
      empty="No clicks in this period"
      columns={columns}
      rows={results.links}
      rowKey={(row) => row.link ?? ''}
      csv={{
        name: `${fileName}-links`,
        label: 'links',
        header: ['link', 'clicked', 'total_clicks', 'automated_clicks'],
        cells: (row) => [row.link ?? '(other)', row.clicks_unique ?? '', row.clicks, row.clicks_machine],
      }}
    >
      {shown !== undefined && (
        <LinkClicks
          {...{ flowId, period }}
          link={shown}
          fileName={`${fileName}-clicks`}
          onClose={() => setShown(undefined)}
        />
      )}
    </TableSection>
  )
}
