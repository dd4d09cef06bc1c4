import type { MessageStatus } from '../api/types.ts'
import { StatusBadge, type Tone } from '../ui/status-badge.tsx'

const shown: Record<MessageStatus, { tone: Tone; label: string }> = {
  queued: { tone: 'info', label: 'Queued' },
  sent: { tone: 'good', label: 'Sent' },
  bounced: { tone: 'bad', label: 'Bounced' },
  suppressed: { tone: 'still', label: 'Suppressed' },
  failed: { tone: 'bad', label: 'Failed' },
}

export const messageStatusOptions = Object.entries(shown).map(([value, { label }]) => ({ value, label }))

export function MessageStatusBadge({ status }: { status: MessageStatus }) {
  return <StatusBadge tone={shown[status].tone}>{shown[status].label}</StatusBadge>
}
