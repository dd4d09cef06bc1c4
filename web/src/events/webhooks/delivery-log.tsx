import { Button, SegmentedControl, Text } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import type { Delivery, Webhook } from '../../api/types.ts'
import { paths } from '../../paths.ts'
import type { Column } from '../../ui/data-table.tsx'
import { emailText } from '../../ui/email-text.ts'
import { FilterSelect } from '../../ui/filters.tsx'
import { TableList } from '../../ui/list.tsx'
import { RowLink } from '../../ui/row-link.tsx'
import { Section } from '../../ui/section.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { Time } from '../../ui/time.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { eventOptions, selectedOptions } from '../activity/event-names.tsx'
import { DeliveryStatusBadge } from './delivery-status.tsx'
import { type DeliveryFilter, useDeliveries } from './webhooks.api.ts'

const statuses = [
  { value: '', label: 'All' },
  { value: 'delivered', label: 'Delivered' },
  { value: 'pending', label: 'Pending' },
  { value: 'failed', label: 'Failed' },
]

const columns: Column<Delivery>[] = [
  {
    header: 'Event',
    phone: 'title',
    cell: (delivery) => (
      <>
        <RowLink to={paths.delivery(delivery.webhook_id, delivery.id)}>
          {delivery.event_name}
          {delivery.contact_email && (
            <Text component="span" display="block" size="xs" c="dimmed" fw={400}>
              {emailText(delivery.contact_email)}
            </Text>
          )}
        </RowLink>
        {delivery.is_test && (
          <>
            {' '}
            <StatusBadge tone="neutral">Test</StatusBadge>
          </>
        )}
      </>
    ),
  },
  { header: 'Status', cell: (delivery) => <DeliveryStatusBadge delivery={delivery} /> },
  {
    header: 'Result',
    phone: 'hide',
    cell: (delivery) => (
      <Text size="xs" c="dimmed" className="break">
        {delivery.reason ?? '–'}
      </Text>
    ),
  },
  { header: 'Attempts', align: 'right', cell: (delivery) => delivery.attempt_count },
  { header: 'Event time', align: 'right', cell: (delivery) => <Time at={delivery.created_at} /> },
  { header: 'Delivered', align: 'right', cell: (delivery) => <Time at={delivery.delivered_at} none="–" /> },
]

export function DeliveryLog({ webhook, onReplay }: { webhook: Webhook; onReplay: () => void }) {
  const { filter, field, filtered } = useFilters('status', 'event')
  const deliveries = useDeliveries(webhook.id, {
    status: filter.status as DeliveryFilter['status'],
    event_name: filter.event as DeliveryFilter['event_name'],
  })
  return (
    <Section
      title="Deliveries"
      actions={
        <Button variant="default" size="xs" leftSection={<IconRefresh size={14} aria-hidden />} onClick={onReplay}>
          Replay failed
        </Button>
      }
    >
      <TableList
        label="Deliveries"
        query={deliveries}
        columns={columns}
        rowKey={({ id }) => id}
        filters={
          <>
            <SegmentedControl aria-label="Status" size="xs" data={statuses} {...field('status')} />
            <FilterSelect
              label="Event type"
              placeholder="All event types"
              size="xs"
              data={[...eventOptions, ...selectedOptions]}
              {...field('event')}
            />
          </>
        }
        empty={{
          title: 'No deliveries yet',
          children: 'Deliveries will appear here as events happen. Send a test event to see the first one.',
        }}
        notFound={filtered && { title: 'No deliveries found', children: 'Try another status or event type.' }}
      />
    </Section>
  )
}
