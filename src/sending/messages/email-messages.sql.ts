import type { Reader, Tx } from '../../platform/db/db.ts'
import type { EventName } from '../../platform/values/event-types.ts'
import type { EmailId, MessageId, OrganizationId } from '../../platform/values/ids.ts'
import type { Tag } from '../attachments/content.ts'
import { begun } from '../attempts/begun.ts'

/** A message of an email without a flow. */
export type EmailMessageRow = {
  id: MessageId
  email: string
  subject: string
  status: 'queued' | 'sent' | 'bounced' | 'suppressed' | 'failed' | 'cancelled'
  reason: string | null
  queuedAt: Date
  sendAt: Date | null
  isScheduled: boolean
  tags: Tag[] | null
  eventNames: EventName[] | null
}

/** Returns the messages of an email in the order of its recipients. */
export const selectMessagesOf = (db: Reader, organizationId: OrganizationId, id: EmailId) =>
  db<EmailMessageRow>`
    select messages.id, email, subject, status, reason, queued_at, send_at, tags,
      status = 'queued' and coalesce(send_at > now(), false) as is_scheduled,
      (select array_agg(distinct event_name) from events
        where events.organization_id = ${organizationId} and events.contact_id = messages.contact_id
          and events.message_id = messages.id) as event_names
    from messages
    where messages.organization_id = ${organizationId} and content_id = ${id}
    order by messages.id`

export type ScheduledMessage = { id: MessageId; sendAt: Date | null; isWaiting: boolean }

/**
 * Locks the messages of an email until the end of the transaction, without those that were suppressed when it was accepted.
 * `isWaiting`: no worker has read it, because it is due only in `marginMs` or later.
 */
export const lockScheduled = (tx: Tx, organizationId: OrganizationId, id: EmailId, marginMs: number) =>
  tx<ScheduledMessage>`
    select id, send_at, status = 'queued' and ${begun} = 'no'
        and coalesce(send_at > now() + ${marginMs} * interval '1 ms', false) as is_waiting
    from messages
    where organization_id = ${organizationId} and content_id = ${id} and status <> 'suppressed'
    order by id
    for no key update`

export const updateSendAt = (tx: Tx, organizationId: OrganizationId, ids: readonly MessageId[], sendAt: Date) =>
  tx`
    update messages set send_at = ${sendAt}
    where organization_id = ${organizationId} and id = any (${ids}::uuid[]) and status = 'queued'`
