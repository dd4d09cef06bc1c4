import { Text } from '@mantine/core'
import type { MessageDetail } from '../../api/types.ts'
import { EventBadge } from '../../events/activity/event-names.tsx'
import { DeliveryStatusBadge } from '../../events/webhooks/delivery-status.tsx'
import { paths } from '../../paths.ts'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { RowLink } from '../../ui/row-link.tsx'
import { Section } from '../../ui/section.tsx'

type Row = MessageDetail['webhook_deliveries'][number]

const columns: Column<Row>[] = [
  {
    header: 'Webhook',
    phone: 'title',
    cell: (row) => <RowLink to={paths.delivery(row.webhook_id, row.id)}>{row.webhook_name}</RowLink>,
  },
  { header: 'Event', cell: (row) => <EventBadge name={row.event_name} /> },
  { header: 'Status', phone: 'corner', cell: (row) => <DeliveryStatusBadge delivery={row} /> },
  {
    header: 'Result',
    cell: (row) => (
      <Text size="xs" c="dimmed" className="break">
        {row.reason ?? '–'}
      </Text>
    ),
  },
]

/** What webhooks received about the message. Nothing without webhooks. */
export function MessageDeliveries({ message: { webhook_deliveries: rows } }: { message: MessageDetail }) {
  if (rows.length === 0) return null
  return (
    <Section title="Webhook deliveries">
      <DataTable label="Webhook deliveries" columns={columns} rows={rows} rowKey={(row) => row.id} />
    </Section>
  )
}
