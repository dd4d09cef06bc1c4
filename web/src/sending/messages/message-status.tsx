import { Group } from '@mantine/core'
import type { Message, MessageEngagement, MessageStatus } from '../../api/types.ts'
import { StatusBadge, type Tone } from '../../ui/status-badge.tsx'

export const messageStatuses: Record<MessageStatus, { tone: Tone; label: string }> = {
  queued: { tone: 'info', label: 'Queued' },
  scheduled: { tone: 'info', label: 'Scheduled' },
  sent: { tone: 'good', label: 'Sent' },
  bounced: { tone: 'bad', label: 'Bounced' },
  suppressed: { tone: 'neutral', label: 'Suppressed' },
  failed: { tone: 'bad', label: 'Failed' },
  cancelled: { tone: 'neutral', label: 'Cancelled' },
}

/** How far an email got. */
const engagements: Record<NonNullable<Message['engagement']>, { tone: Tone; label: string }> = {
  delivered: { tone: 'neutral', label: 'Delivered' },
  opened: { tone: 'info', label: 'Opened' },
  clicked: { tone: 'good', label: 'Clicked' },
  unsubscribed: { tone: 'warn', label: 'Unsubscribed' },
  complained: { tone: 'bad', label: 'Complaint' },
  bounced: { tone: 'bad', label: 'Bounced' },
}

const engagementLabels: Record<MessageEngagement, string> = {
  sent: 'Sent',
  delivered: 'Delivered',
  opened: 'Opened',
  clicked: 'Clicked',
  not_opened: 'Not opened',
  bounced: 'Bounced',
  complained: 'Complaints',
  unsubscribed: 'Unsubscribed',
}
const notSent: MessageStatus[] = ['queued', 'scheduled', 'suppressed', 'failed', 'cancelled']

/** One choice for the status of a message and what happened to its email. */
export const messageStateOptions = [
  {
    group: 'Sent',
    items: Object.entries(engagementLabels).map(([value, label]) => ({ value, label })),
  },
  { group: 'Not sent', items: notSent.map((value) => ({ value, label: messageStatuses[value].label })) },
]

/** The filter of a choice. Anything else is no filter. */
export function stateFilter(choice: string): { status: MessageStatus | ''; engagement: MessageEngagement | '' } {
  if (choice in engagementLabels) return { status: '', engagement: choice as MessageEngagement }
  return { status: choice in messageStatuses ? (choice as MessageStatus) : '', engagement: '' }
}

type Props = { message: Pick<Message, 'status' | 'engagement' | 'is_test'> }

export function MessageBadges({ message: { status, engagement, is_test } }: Props) {
  return (
    <Group gap={6}>
      <StateBadge status={status} engagement={engagement} />
      {is_test && <StatusBadge tone="neutral">Test</StatusBadge>}
    </Group>
  )
}

/** The last thing that happened to the email. */
export function StateBadge({ status, engagement }: Pick<Message, 'status' | 'engagement'>) {
  const { tone, label } = engagement ? engagements[engagement] : messageStatuses[status]
  return <StatusBadge tone={tone}>{label}</StatusBadge>
}
