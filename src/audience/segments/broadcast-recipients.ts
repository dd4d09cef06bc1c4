import { type Sql, sql } from '../../platform/db/sql.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'

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
      return hasReaction(organizationId, sql`recipient.message_id`, isReaction.opened)
    case 'clicked':
      return hasReaction(organizationId, sql`recipient.message_id`, isReaction.clicked)
    case 'not_opened':
      return sql`${received} and not ${hasReaction(organizationId, sql`recipient.message_id`, isReading)}`
  }
}

/**
 * Conditions on `first_occurrences`. The names are not parameters, so that every plan can use the index of rare reactions
 * (`first_occurrences_rare`): all but opens and clicks.
 */
export const isReaction = {
  opened: sql`first_occurrences.event_name = 'emailOpen'`,
  clicked: sql`first_occurrences.event_name = 'emailClick'`,
  bounced: sql`first_occurrences.event_name in ('emailHardBounce', 'emailSoftBounce')`,
  complained: sql`first_occurrences.event_name = 'emailComplaint'`,
  unsubscribed: sql`first_occurrences.event_name = 'contactUnsubscribe'`,
} as const satisfies Record<string, Sql>
export type ReactionName = keyof typeof isReaction

export const isReactionName = (name: string | undefined): name is ReactionName =>
  name !== undefined && Object.hasOwn(isReaction, name)

/** Either of them proves that a person read the email. */
export const isReading = sql`first_occurrences.event_name in ('emailOpen', 'emailClick')`

/** Whether something happened to a message, such as `isReading`. Automated opens and clicks do not count. */
export const hasReaction = (organizationId: OrganizationId, messageId: Sql, isWanted: Sql): Sql => sql`exists (
  select from first_occurrences
  where first_occurrences.organization_id = ${organizationId}
    and first_occurrences.subject_id = ${messageId} and ${isWanted}
    and first_occurrences.occurred_at < 'infinity')`
