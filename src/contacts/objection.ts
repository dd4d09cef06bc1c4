import { type Sql, sql } from '../db/sql.ts'

/** 'unsubscribed' where this address objected, be it as a contact that was erased since; else null. */
export const objectionOf = (organizationId: Sql, emailKey: Sql): Sql => sql`(
  select 'unsubscribed' from suppressions
  where suppressions.organization_id = ${organizationId} and suppressions.email_key = ${emailKey}
    and suppressions.reason = 'unsubscribe')`

/** What becomes of a contact that was only ever sent to and joins a group. */
export const subscriptionOnJoining = sql`
  coalesce(${objectionOf(sql`contacts.organization_id`, sql`contacts.email_key`)}, 'subscribed')`
