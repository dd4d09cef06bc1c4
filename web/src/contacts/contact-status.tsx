import type { ContactStatus } from '../api/types.ts'
import { StatusBadge, type Tone } from '../ui/status-badge.tsx'

const shown: Record<ContactStatus, { tone: Tone; label: string }> = {
  subscribed: { tone: 'good', label: 'Subscribed' },
  not_subscribed: { tone: 'still', label: 'Not subscribed' },
  unsubscribed: { tone: 'warn', label: 'Unsubscribed' },
  suppressed: { tone: 'bad', label: 'Suppressed' },
}

export const contactStatusOptions = Object.entries(shown).map(([value, { label }]) => ({ value, label }))

export function ContactStatusBadge({ status }: { status: ContactStatus }) {
  return <StatusBadge tone={shown[status].tone}>{shown[status].label}</StatusBadge>
}
