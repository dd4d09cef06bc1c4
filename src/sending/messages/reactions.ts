import { type Sql, sql } from '../../platform/db/sql.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'

/** When a person first opened and clicked the email, complained about it, and used its unsubscribe link. */
export const reactionTo = (organizationId: OrganizationId, messageId: Sql) => sql`
  lateral (
    select min(occurred_at) filter (where event_name = 'emailOpen') as first_opened_at,
      min(occurred_at) filter (where event_name = 'emailClick') as first_clicked_at,
      min(occurred_at) filter (where event_name = 'emailComplaint') as complained_at,
      min(occurred_at) filter (where event_name = 'contactUnsubscribe') as unsubscribed_at
    from first_occurrences
    where organization_id = ${organizationId} and subject_id = ${messageId} and occurred_at < 'infinity'
  ) as reaction`
