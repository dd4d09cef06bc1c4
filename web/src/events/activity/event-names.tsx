import type { EventName } from '../../api/types.ts'
import { StatusBadge, type Tone } from '../../ui/status-badge.tsx'

/** Changes of contacts and events of the organization, which only webhooks receive. */
export const selectedOptions = [
  { value: 'contactCreated', label: 'Contact created' },
  { value: 'contactUpdated', label: 'Contact updated' },
  { value: 'contactSubscribed', label: 'Subscribed' },
  { value: 'broadcastStarted', label: 'Broadcast started' },
  { value: 'broadcastFinished', label: 'Broadcast finished' },
  { value: 'domainStatusChanged', label: 'Domain status changed' },
  { value: 'mailServerFailing', label: 'Mail server failing' },
  { value: 'mailServerRecovered', label: 'Mail server recovered' },
]

/** In the order in which they happen to an email. */
export const eventLabels: Record<EventName, string> = {
  emailSent: 'Sent',
  emailOpen: 'Opened',
  emailClick: 'Clicked',
  emailSoftBounce: 'Soft bounce',
  emailHardBounce: 'Hard bounce',
  emailComplaint: 'Complaint',
  contactUnsubscribe: 'Unsubscribed',
}
const eventNames = Object.keys(eventLabels) as EventName[]
export const eventOptions = eventNames.map((value) => ({ value, label: eventLabels[value] }))

const tones: Record<EventName, Tone> = {
  emailSent: 'neutral',
  emailOpen: 'info',
  emailClick: 'good',
  emailSoftBounce: 'warn',
  emailHardBounce: 'bad',
  emailComplaint: 'bad',
  contactUnsubscribe: 'warn',
}

export function EventBadge({ name }: { name: EventName }) {
  return <StatusBadge tone={tones[name] ?? 'neutral'}>{eventLabels[name] ?? name}</StatusBadge>
}
