import { allFlows } from '../../events/events.ts'
import { lockOrganization } from '../../platform/db/cluster/lock-organization.ts'
import type { Reader, Tx } from '../../platform/db/db.ts'
import { firstValue, hasRows } from '../../platform/db/rows.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import type { NoticeKind } from './notices.sql.ts'

/** Returns the organization that operates the installation. */
export const findOperator = (db: Reader) =>
  firstValue(db<{ id: OrganizationId }>`select id from organizations where is_operator and deleted_at is null`)

/** Returns false if the organization was deleted. Locks it until the end of the transaction. */
export async function lockForNotice(tx: Tx, id: OrganizationId): Promise<boolean> {
  await lockOrganization(tx, id)
  return hasRows(tx`select from organizations where id = ${id} and deleted_at is null`)
}

export const hasNoticeSince = (db: Reader, organizationId: OrganizationId, kind: NoticeKind, since: Date) =>
  hasRows(db`
    select from notices
    where organization_id = ${organizationId} and kind = ${kind} and created_at > ${since}
    limit 1`)

export type DayCounts = { organizationId: OrganizationId; sent: number; bounced: number; complained: number }

/** Returns the events of the last `hours` of every organization with bounces or complaints, by ranges of the key. */
export const selectRecentCounts = (db: Reader, hours: number, sentMin: number) =>
  db<DayCounts>`
    select organizations.id as organization_id, counts.sent, counts.bounced, counts.complained
    from organizations
    cross join lateral (
      select
        coalesce(sum(total) filter (where event_name = 'emailSent'), 0)::int8 as sent,
        coalesce(sum(total) filter (where event_name = 'emailHardBounce'), 0)::int8 as bounced,
        coalesce(sum(total) filter (where event_name = 'emailComplaint'), 0)::int8 as complained
      from event_counters
      where event_counters.organization_id = organizations.id
        and event_name = any (array['emailSent', 'emailHardBounce', 'emailComplaint'])
        and flow_id = ${allFlows} and grain = 'quarter' and starts_at > now() - ${hours} * interval '1 hour'
      group by event_counters.organization_id
    ) as counts
    where organizations.deleted_at is null and counts.sent >= ${sentMin} and counts.bounced + counts.complained > 0`
