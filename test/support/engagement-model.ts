import type { NewEvent } from '../../src/events/recording/record.ts'
import type { EventName } from '../../src/platform/values/event-types.ts'
import { toText } from '../../src/platform/values/ids.ts'

// Computes who did what with the emails of broadcasts from the list of events, in the simplest way.

/** A recipient as it was listed right after the broadcast was sent. */
export type ListedRecipient = {
  contact_id: string
  email: string | null
  status: string
  reason: string | null
  message_id: string | null
  variant: string | null
}

export type Reader = ListedRecipient & {
  isSent: boolean
  hasHardBounce: boolean
  hasSoftBounce: boolean
  openedAt: Date | null
  clickedAt: Date | null
  complainedAt: Date | null
  unsubscribedAt: Date | null
  /** The clicks by people. */
  clicks: { url: string; at: Date }[]
  /** The clicked links, the first one first. */
  links: string[]
}

/** What happened to each recipient according to the events. */
export function readersOf(recipients: readonly ListedRecipient[], events: readonly NewEvent[]): Reader[] {
  return recipients.map((recipient): Reader => {
    const own = events
      .filter(({ messageId, machine }) => messageId && toText('msg', messageId) === recipient.message_id && !machine)
      .toSorted((a, b) => +a.occurredAt - +b.occurredAt)
    const first = (name: EventName) => own.find(({ eventName }) => eventName === name)?.occurredAt ?? null
    const clicks = own.flatMap(({ eventName, data, occurredAt: at }) =>
      eventName === 'emailClick' ? [{ url: data.url!, at }] : [],
    )
    const [hasHardBounce, hasSoftBounce] = [first('emailHardBounce') !== null, first('emailSoftBounce') !== null]
    const hasBounced = recipient.status === 'sent' && (hasHardBounce || hasSoftBounce)
    const status = hasBounced ? 'bounced' : recipient.status
    return {
      ...recipient,
      status,
      reason: status === 'bounced' ? (hasHardBounce ? 'user_unknown' : 'mailbox_full') : recipient.reason,
      isSent: ['sent', 'bounced'].includes(status),
      ...{ hasHardBounce, hasSoftBounce, clicks },
      openedAt: first('emailOpen'),
      clickedAt: first('emailClick'),
      complainedAt: first('emailComplaint'),
      unsubscribedAt: first('contactUnsubscribe'),
      links: [...new Set(clicks.toSorted((a, b) => +a.at - +b.at || (a.url < b.url ? -1 : 1)).map(({ url }) => url))],
    }
  })
}

const isUnread = ({ status, openedAt, clickedAt }: Reader) => status === 'sent' && !openedAt && !clickedAt

export const engagements: Record<string, (reader: Reader) => boolean> = {
  sent: ({ isSent }) => isSent,
  delivered: ({ status }) => status === 'sent',
  opened: ({ openedAt }) => openedAt !== null,
  clicked: ({ clickedAt }) => clickedAt !== null,
  not_opened: isUnread,
  bounced: ({ status }) => status === 'bounced',
  complained: ({ complainedAt }) => complainedAt !== null,
  unsubscribed: ({ unsubscribedAt }) => unsubscribedAt !== null,
}

/** The last thing that happened to a message. */
export function engagementIn(reader: Reader): string | null {
  if (!reader.isSent) return null
  const inOrder = ['bounced', 'complained', 'unsubscribed', 'clicked', 'opened', 'delivered']
  return inOrder.find((name) => engagements[name]!(reader))!
}

const count = (readers: readonly Reader[], matches: (reader: Reader) => boolean) => readers.filter(matches).length

export function totalsOf(readers: readonly Reader[]) {
  const counted = ['opened', 'clicked', 'not_opened', 'complained', 'unsubscribed'].map((name) => [
    name,
    count(readers, engagements[name]!),
  ])
  return {
    ...(Object.fromEntries(counted) as Record<
      'opened' | 'clicked' | 'not_opened' | 'complained' | 'unsubscribed',
      number
    >),
    hard_bounced: count(readers, ({ hasHardBounce }) => hasHardBounce),
    soft_bounced: count(readers, ({ hasSoftBounce }) => hasSoftBounce),
  }
}

export function variantOf(all: readonly Reader[], key: string) {
  const readers = all.filter(({ variant }) => variant === key)
  const { opened, clicked, complained, unsubscribed } = totalsOf(readers)
  const [sent, bounced] = ['sent', 'bounced'].map((name) => count(readers, engagements[name]!))
  return { key, recipients: readers.length, sent, bounced, opened, clicked, complained, unsubscribed }
}

/** The most clicked first. */
export function linksOf(readers: readonly Reader[]) {
  const urls = [...new Set(readers.flatMap(({ links }) => links))]
  return urls
    .map((url) => ({
      url,
      clicks: readers.flatMap(({ clicks }) => clicks).filter((click) => click.url === url).length,
      contacts: count(readers, ({ links }) => links.includes(url)),
    }))
    .sort((a, b) => b.clicks - a.clicks || (a.url < b.url ? -1 : 1))
}

export function hoursOf(readers: readonly Reader[], startedAt: Date) {
  const within = (at: Date | null, hour: number) => at !== null && Math.floor((+at - +startedAt) / 3_600_000) === hour
  return Array.from({ length: 48 }, (_, hour) => ({
    hour,
    opened: count(readers, ({ openedAt }) => within(openedAt, hour)),
    clicked: count(readers, ({ clickedAt }) => within(clickedAt, hour)),
  }))
}
