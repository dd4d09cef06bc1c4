import type { Reader } from '../db/db.ts'
import { leastId, type MessageId } from '../values/ids.ts'
import type { Broadcast } from './broadcasts.sql.ts'

export type Results = {
  opened: number
  clicked: number
  unsubscribed: number
  complained: number
  hardBounced: number
  softBounced: number
  /** Delivered, and neither opened nor clicked. */
  notOpened: number
}

export type SentBroadcast = Pick<Broadcast, 'organizationId' | 'id' | 'startedAt' | 'finishedAt'>

/** Emails may be sent again for some time after the end, if failed recipients are tried again. */
export const marginMs = 60_000

/** Returns the range of the ids of its messages, which contain their time, or undefined if it has not started. */
export function idRangeOf({ startedAt, finishedAt }: SentBroadcast): { from: MessageId; until: MessageId } | undefined {
  if (!startedAt) return undefined
  const until = leastId('msg', (finishedAt?.getTime() ?? Date.now()) + marginMs)
  return { from: leastId('msg', startedAt.getTime() - marginMs), until }
}

/**
 * Counts the recipients that reacted, each once and without machines. The ids of messages contain their time, so only the
 * reactions to messages of the time of the broadcast are read. `broadcast.counts` has the number of delivered emails.
 */
export async function countResults(db: Reader, broadcast: SentBroadcast & Pick<Broadcast, 'counts'>): Promise<Results> {
  const { organizationId, id, counts } = broadcast
  const range = idRangeOf(broadcast)
  if (!range)
    return { opened: 0, clicked: 0, unsubscribed: 0, complained: 0, hardBounced: 0, softBounced: 0, notOpened: 0 }
  const [row] = await db<Omit<Results, 'notOpened'> & { read: number }>`
    select
      count(*) filter (where event_name = 'emailOpen') as opened,
      count(*) filter (where event_name = 'emailClick') as clicked,
      count(*) filter (where event_name = 'contactUnsubscribe') as unsubscribed,
      count(*) filter (where event_name = 'emailComplaint') as complained,
      count(*) filter (where event_name = 'emailHardBounce') as hard_bounced,
      count(*) filter (where event_name = 'emailSoftBounce') as soft_bounced,
      count(*) filter (where recipient.status = 'sent' and case event_name
        when 'emailOpen' then true
        -- Who opened is counted already.
        when 'emailClick' then not exists (
          select from first_occurrences as open
          where open.organization_id = ${organizationId} and open.subject_id = first_occurrences.subject_id
            and open.event_name = 'emailOpen' and open.occurred_at < 'infinity')
        else false end) as read
    from first_occurrences
    join broadcast_recipients as recipient on recipient.organization_id = first_occurrences.organization_id
      and recipient.message_id = first_occurrences.subject_id
    where first_occurrences.organization_id = ${organizationId}
      and first_occurrences.subject_id between ${range.from} and ${range.until}
      and first_occurrences.occurred_at < 'infinity' and recipient.broadcast_id = ${id}`
  const { read, ...results } = row!
  return { ...results, notOpened: Math.max(0, (counts.sent ?? 0) - read) }
}

export type LinkRow = { url: string; clicks: number; contacts: number }

/** Returns the links of a broadcast with their human clicks, the most clicked first. */
export async function selectLinks(
  db: Reader,
  { organizationId, id, startedAt }: SentBroadcast,
  limit: number,
): Promise<LinkRow[]> {
  if (!startedAt) return []
  return db<LinkRow>`
    select events.link as url, count(*) as clicks, count(distinct events.contact_id) as contacts
    from events
    join messages on messages.organization_id = events.organization_id and messages.id = events.message_id
    where events.organization_id = ${organizationId} and events.event_name = 'emailClick'
      and events.occurred_at >= ${startedAt} and not events.machine and messages.broadcast_id = ${id}
      and events.link is not null
    group by 1
    order by 2 desc, 1
    limit ${limit}`
}
