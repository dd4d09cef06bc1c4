import type { Reader } from '../../platform/db/db.ts'
import type { EventName } from '../../platform/values/event-types.ts'
import { type ContactId, leastId, type MessageId, type OrganizationId, timeOfId } from '../../platform/values/ids.ts'

export const bounceNames: readonly EventName[] = ['emailHardBounce', 'emailSoftBounce']

/** When the email was sent, and its first bounces. Null if that has not happened. */
export type BouncedMessage = { messageId: MessageId; sentAt: Date | null; hardAt: Date | null; softAt: Date | null }

/** Returns those of the messages that have bounced. */
export const findBouncedMessages = (
  db: Reader,
  organizationId: OrganizationId,
  messages: readonly { messageId: MessageId; contactId: ContactId }[],
) => db<BouncedMessage>`
  select key.message_id, sent.at as sent_at, bounce.hard_at, bounce.soft_at
  from unnest(${messages.map(({ messageId }) => messageId)}::uuid[], ${messages.map(({ contactId }) => contactId)}::uuid[])
    as key (message_id, contact_id)
  cross join lateral (
    select min(occurred_at) as at from events
    where organization_id = ${organizationId} and contact_id = key.contact_id and events.message_id = key.message_id
      -- Not older than the messages.
      and id >= ${leastId('evt', Math.min(...messages.map(({ messageId }) => timeOfId(messageId))))}
      -- Written so that no index on event_name can be used, as in bursts.sql.ts.
      and (event_name = 'emailSent') is true
  ) as sent
  cross join lateral (
    select min(occurred_at) filter (where event_name = 'emailHardBounce') as hard_at,
      min(occurred_at) filter (where event_name = 'emailSoftBounce') as soft_at
    from first_occurrences
    where organization_id = ${organizationId} and subject_id = key.message_id
      and event_name = any (${bounceNames}::text[])
  ) as bounce
  where bounce.hard_at is not null or bounce.soft_at is not null`
