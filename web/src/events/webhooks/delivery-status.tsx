import type { Delivery } from '../../api/types.ts'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { isSoon, Time } from '../../ui/time.tsx'

type Props = { delivery: Pick<Delivery, 'status' | 'attempt_count' | 'next_attempt_at'> }

export function DeliveryStatusBadge({ delivery }: Props) {
  if (delivery.status === 'delivered') return <StatusBadge tone="good">Delivered</StatusBadge>
  if (delivery.status === 'failed') return <StatusBadge tone="bad">Failed</StatusBadge>
  if (delivery.attempt_count === 0 || !delivery.next_attempt_at || isSoon(delivery.next_attempt_at))
    return <StatusBadge tone="info">Pending</StatusBadge>
  return (
    <StatusBadge tone="warn">
      Next attempt <Time at={delivery.next_attempt_at} />
    </StatusBadge>
  )
}
