import { type Sql, sql } from '../db/sql.ts'
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
      return reacted(organizationId, ['emailOpen'])
    case 'clicked':
      return reacted(organizationId, ['emailClick'])
    case 'not_opened':
      return sql`${received} and not ${reacted(organizationId, ['emailOpen', 'emailClick'])}`
  }
}

const reacted = (organizationId: OrganizationId, names: ('emailOpen' | 'emailClick')[]): Sql => sql`exists (
  select from first_occurrences
  where first_occurrences.organization_id = ${organizationId}
    and first_occurrences.subject_id = recipient.message_id and first_occurrences.event_name = any (${names}::text[])
    and first_occurrences.occurred_at < 'infinity')`
