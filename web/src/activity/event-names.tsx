import type { EventName } from '../api/types.ts'
import { StatusBadge, type Tone } from '../ui/status-badge.tsx'

/** The events in the order in which they happen to a mail, in words. */
const eventLabels: Record<EventName, string> = {
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
  emailSent: 'still',
  emailOpen: 'info',
  emailClick: 'good',
  emailSoftBounce: 'warn',
  emailHardBounce: 'bad',
  emailComplaint: 'bad',
  contactUnsubscribe: 'warn',
}

export function EventBadge({ name }: { name: EventName }) {
  return <StatusBadge tone={tones[name] ?? 'still'}>{eventLabels[name] ?? name}</StatusBadge>
}
