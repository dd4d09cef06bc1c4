import type { RecipientSnapshot } from '../../content/content.ts'
import type { Reader } from '../../platform/db/db.ts'
import { first } from '../../platform/db/rows.ts'
import { sql } from '../../platform/db/sql.ts'
import type { ContactId, MessageId } from '../../platform/values/ids.ts'
import type { AudienceContact } from '../audience/audience.sql.ts'
import type { Broadcast, RecipientStatus } from '../broadcasts.sql.ts'

type Key = Pick<Broadcast, 'organizationId' | 'id'>

/** Returns recipients whose email was sent, or is still to be sent, in the order of their ids. */
export const selectFrozen = (
  db: Reader,
  { organizationId, id }: Key,
  { isSent, variant, limit }: { isSent: boolean; variant: number | undefined; limit: number },
) =>
  db<AudienceContact>`
    select contacts.id, contacts.email, contacts.first_name, contacts.last_name, contacts.attributes
    from broadcast_recipients as recipient
    join contacts on contacts.organization_id = recipient.organization_id and contacts.id = recipient.contact_id
    where recipient.organization_id = ${organizationId} and recipient.broadcast_id = ${id}
      and ${isSent ? sql`recipient.message_id is not null` : sql`recipient.status = 'pending'`}
      and ${variant === undefined ? sql`true` : sql`recipient.variant = ${variant}`}
    order by recipient.contact_id
    limit ${limit}`

/** Returns undefined if the contact is not a recipient. */
export const findFrozen = (db: Reader, { organizationId, id }: Key, contactId: ContactId) =>
  first(db<{ status: RecipientStatus; variant: number | null }>`
    select status, variant from broadcast_recipients
    where organization_id = ${organizationId} and broadcast_id = ${id} and contact_id = ${contactId}`)

export type SentEmail = {
  messageId: MessageId
  variant: number | null
  email: string
  subject: string
  recipient: RecipientSnapshot | null
  context: Record<string, unknown>
  queuedAt: Date
}

/** Returns the email that a recipient was sent, or undefined if there was none or the contact was erased. */
export const findSentEmail = (db: Reader, { organizationId, id }: Key, contactId: ContactId) =>
  first(db<SentEmail>`
    select messages.id as message_id, recipient.variant, messages.email, messages.subject, messages.recipient,
      messages.context, messages.queued_at
    from broadcast_recipients as recipient
    join messages on messages.organization_id = recipient.organization_id and messages.id = recipient.message_id
    where recipient.organization_id = ${organizationId} and recipient.broadcast_id = ${id}
      and recipient.contact_id = ${contactId} and messages.context is not null`)
