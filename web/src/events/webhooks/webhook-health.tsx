import type { Webhook } from '../../api/types.ts'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { DayAndClock } from '../../ui/time.tsx'
import { selectedOptions } from '../activity/event-names.tsx'

export function WebhookHealth({ webhook }: { webhook: Webhook }) {
  if (webhook.status === 'paused') return <StatusBadge tone="neutral">Paused</StatusBadge>
  if (webhook.failing_since) {
    return (
      <StatusBadge tone="bad">
        Failing since <DayAndClock at={webhook.failing_since} />
      </StatusBadge>
    )
  }
  if (!webhook.last_delivery_at) return <StatusBadge tone="info">No events yet</StatusBadge>
  return <StatusBadge tone="good">Healthy</StatusBadge>
}

/**
 * The share of finished deliveries of the last 24 hours that were acknowledged, without tests. While the webhook is failing,
 * pending ones were tried in vain or wait for those that were.
 */
export function successShare(webhook: Webhook): string {
  const { delivered = 0, failed = 0, pending = 0 } = webhook.stats_24h ?? {}
  const finished = delivered + failed + (webhook.failing_since ? pending : 0)
  return finished === 0 ? '–' : `${Math.floor((delivered / finished) * 100)}% of ${finished.toLocaleString('en')}`
}

export function eventsOf(webhook: Webhook): string {
  if (!webhook.all_events) return webhook.event_types.join(', ')
  const changes = webhook.event_types.filter((name) => selectedOptions.some(({ value }) => value === name))
  return ['All email events', ...changes].join(', ')
}
