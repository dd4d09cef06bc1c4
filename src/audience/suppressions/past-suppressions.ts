import type { Writer } from '../../platform/db/db.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'

/** Dates suppressions back to the events that caused them, for sample data. */
export const datePastSuppressions = (db: Writer, organizationId: OrganizationId) =>
  db`
    update suppressions set created_at = events.occurred_at
    from events
    where suppressions.organization_id = ${organizationId} and events.organization_id = ${organizationId}
      and events.message_id = suppressions.message_id
      and events.event_name in ('emailHardBounce', 'emailComplaint', 'contactUnsubscribe')`
