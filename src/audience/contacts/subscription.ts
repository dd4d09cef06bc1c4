import { type Sql, sql } from '../../platform/db/sql.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'

/** 'unsubscribed' if this address unsubscribed, even if its contact was erased since; otherwise null. */
export const priorUnsubscription = (organizationId: Sql, emailKey: Sql): Sql => sql`(
  select 'unsubscribed' from suppressions
  where suppressions.organization_id = ${organizationId} and suppressions.email_key = ${emailKey}
    and suppressions.reason = 'unsubscribe')`

/** The subscription of a `not_subscribed` contact that is added to a group. */
export const subscriptionOnJoining = (organizationId: OrganizationId): Sql => sql`
  coalesce(${priorUnsubscription(sql`${organizationId}`, sql`contacts.email_key`)}, 'subscribed')`
