import { useMe } from '../accounts/session/session.api.ts'
import type { Broadcast, BroadcastDetail, BroadcastRecipient, BroadcastStatus, RecipientStatus } from '../api/types.ts'
import { StateBadge } from '../sending/messages/message-status.tsx'
import { count } from '../ui/numbers.ts'
import { StatusBadge, type Tone } from '../ui/status-badge.tsx'
import { sentOf } from './broadcasts.api.ts'
import { dayIn } from './local-time.ts'
import { isWaitingForWinner } from './plan.ts'

type Look = { tone: Tone; label: string }

const looks: Record<BroadcastStatus, Look> = {
  draft: { tone: 'neutral', label: 'Draft' },
  scheduled: { tone: 'info', label: 'Scheduled' },
  preparing: { tone: 'info', label: 'Preparing' },
  sending: { tone: 'info', label: 'Sending' },
  paused: { tone: 'warn', label: 'Paused' },
  sent: { tone: 'good', label: 'Sent' },
  cancelled: { tone: 'neutral', label: 'Cancelled' },
  expired: { tone: 'bad', label: 'Expired' },
}

const waiting: Look = { tone: 'neutral', label: 'Waiting for the winner' }

export const broadcastStatusOptions = Object.entries(looks).map(([value, { label }]) => ({ value, label }))

export function BroadcastBadge({ broadcast }: { broadcast: Broadcast }) {
  const { tone, label } = isWaitingForWinner(broadcast) ? waiting : looks[broadcast.status]
  return <StatusBadge tone={tone}>{label}</StatusBadge>
}

/** Beside the title of its page. At the end, it also says how many emails left, and when. */
export function ProgressBadge({ broadcast }: { broadcast: BroadcastDetail }) {
  const zone = useMe().data?.organization.timezone
  const { status, finished_at: finishedAt } = broadcast
  if (status !== 'sent' || finishedAt === null || zone === undefined) return <BroadcastBadge broadcast={broadcast} />
  return (
    <StatusBadge tone={looks.sent.tone}>
      Sent to {count(sentOf(broadcast))}, {dayIn(zone, finishedAt)}
    </StatusBadge>
  )
}

const recipientLooks: Record<RecipientStatus, Look> = {
  pending: { tone: 'neutral', label: 'Pending' },
  queued: { tone: 'info', label: 'Queued' },
  sent: { tone: 'good', label: 'Delivered' },
  bounced: { tone: 'bad', label: 'Bounced' },
  suppressed: { tone: 'neutral', label: 'Suppressed' },
  unsubscribed: { tone: 'neutral', label: 'Unsubscribed before sending' },
  failed: { tone: 'bad', label: 'Failed' },
  cancelled: { tone: 'neutral', label: 'Cancelled' },
}

/** The last thing that happened to the email, as in lists of messages, or why there was none. */
export function RecipientBadge({ status, engagement }: Pick<BroadcastRecipient, 'status' | 'engagement'>) {
  if (engagement) return <StateBadge status="sent" engagement={engagement} />
  const { tone, label } = recipientLooks[status]
  return <StatusBadge tone={tone}>{label}</StatusBadge>
}
