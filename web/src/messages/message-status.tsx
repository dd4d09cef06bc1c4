import { Group } from '@mantine/core'
import type { MessageStatus } from '../api/types.ts'
import { StatusBadge, type Tone } from '../ui/status-badge.tsx'

export const messageStatuses: Record<MessageStatus, { tone: Tone; label: string }> = {
  queued: { tone: 'info', label: 'Queued' },
  scheduled: { tone: 'info', label: 'Scheduled' },
  sent: { tone: 'good', label: 'Sent' },
  bounced: { tone: 'bad', label: 'Bounced' },
  suppressed: { tone: 'neutral', label: 'Suppressed' },
  failed: { tone: 'bad', label: 'Failed' },
  cancelled: { tone: 'neutral', label: 'Cancelled' },
}

export const messageStatusOptions = Object.entries(messageStatuses).map(([value, { label }]) => ({ value, label }))

type Props = { message: { status: MessageStatus; is_test: boolean } }

export function MessageBadges({ message }: Props) {
  const { tone, label } = messageStatuses[message.status]
  return (
    <Group gap={6}>
      <StatusBadge tone={tone}>{label}</StatusBadge>
      {message.is_test && <StatusBadge tone="neutral">Test</StatusBadge>}
    </Group>
  )
}
