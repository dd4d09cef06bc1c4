import { type Sql, sql } from '../db/sql.ts'

/** 'unsubscribed' if this address unsubscribed, even if its contact was erased since; otherwise null. */
export const priorUnsubscription = (organizationId: Sql, emailKey: Sql): Sql => sql`(
  select 'unsubscribed' from suppressions
  where suppressions.organization_id = ${organizationId} and suppressions.email_key = ${emailKey}
    and suppressions.reason = 'unsubscribe')`

/** The subscription of a `not_subscribed` contact that is added to a group. */
export const subscriptionOnJoining = sql`
  coalesce(${priorUnsubscription(sql`contacts.organization_id`, sql`contacts.email_key`)}, 'subscribed')`
