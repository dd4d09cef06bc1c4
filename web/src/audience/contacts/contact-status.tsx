import type { ContactStatus } from '../../api/types.ts'
import { StatusBadge, type Tone } from '../../ui/status-badge.tsx'

const badges: Record<ContactStatus, { tone: Tone; label: string }> = {
  subscribed: { tone: 'good', label: 'Subscribed' },
  not_subscribed: { tone: 'neutral', label: 'Not subscribed' },
  unsubscribed: { tone: 'warn', label: 'Unsubscribed' },
  suppressed: { tone: 'bad', label: 'Suppressed' },
}

export const contactStatusOptions = Object.entries(badges).map(([value, { label }]) => ({ value, label }))

export function ContactStatusBadge({ status }: { status: ContactStatus }) {
  return <StatusBadge tone={badges[status].tone}>{badges[status].label}</StatusBadge>
}
