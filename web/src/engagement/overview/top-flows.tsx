import type { Overview } from '../../api/types.ts'
import { paths } from '../../paths.ts'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { count, share } from '../../ui/numbers.ts'
import { RowLink } from '../../ui/row-link.tsx'
import { Section } from '../../ui/section.tsx'
import { Empty } from '../../ui/states.tsx'

type TopFlow = Overview['top_flows'][number]

const columns: Column<TopFlow>[] = [
  {
    header: 'Flow',
    phone: 'title',
    cell: (flow) => (
      <RowLink to={flow.is_built_in ? `${paths.messages}?flow=${flow.flow_id}` : paths.flow(flow.flow_id)}>
        {flow.name}
      </RowLink>
    ),
  },
  { header: 'Sent', align: 'right', cell: (flow) => count(flow.sent) },
  { header: 'Opened', align: 'right', cell: (flow) => share(flow.opens_unique, flow.sent) },
  { header: 'Clicked', align: 'right', cell: (flow) => share(flow.clicks_unique, flow.sent) },
  { header: 'Bounced', align: 'right', phone: 'hide', cell: (flow) => share(flow.bounced, flow.sent) },
]

export function TopFlows({ flows }: { flows: TopFlow[] }) {
  return (
    <Section title="Top flows">
      {flows.length === 0 ? (
        <Empty title="No emails sent">Nothing was sent in this period. Try a longer range.</Empty>
      ) : (
        <DataTable label="Top flows" columns={columns} rows={flows} rowKey={(flow) => flow.flow_id} />
      )}
    </Section>
  )
}
