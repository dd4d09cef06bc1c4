import { type Sql, sql } from '../db/sql.ts'
import type { EventName } from '../values/event-types.ts'
import type { OrganizationId } from '../values/ids.ts'

/** What a recipient of a broadcast did. `received`: the email was delivered, as far as is known. */
export const broadcastOperators = ['received', 'opened', 'clicked', 'not_opened'] as const
export type BroadcastOperator = (typeof broadcastOperators)[number]

/**
 * A condition on rows of `broadcast_recipients` under the alias `recipient`. It is the only definition of these words:
 * results, lists, exports and segments agree because all of them use it. Automated opens and clicks do not count. A click
 * proves that the email was read, also where images are blocked, so `not_opened` excludes recipients that clicked.
 */
export function recipientCondition(organizationId: OrganizationId, operator: BroadcastOperator): Sql {
  const received = sql`recipient.status = 'sent'`
  switch (operator) {
    case 'received':
      return received
    case 'opened':
      return hasReaction(organizationId, sql`recipient.message_id`, ['emailOpen'])
    case 'clicked':
      return hasReaction(organizationId, sql`recipient.message_id`, ['emailClick'])
    case 'not_opened':
      return sql`${received} and not ${hasReaction(organizationId, sql`recipient.message_id`, readEvents)}`
  }
}

/** Either of them proves that a person read the email. */
export const readEvents: EventName[] = ['emailOpen', 'emailClick']

/** Whether one of these events happened to a message. Automated ones do not count. */
export const hasReaction = (organizationId: OrganizationId, messageId: Sql, names: EventName[]): Sql => sql`exists (
  select from first_occurrences
  where first_occurrences.organization_id = ${organizationId}
    and first_occurrences.subject_id = ${messageId} and first_occurrences.event_name = any (${names}::text[])
    and first_occurrences.occurred_at < 'infinity')`
