import type { Reader } from '../db/db.ts'
import { type Sql, sql } from '../db/sql.ts'
import type { ContactId, OrganizationId } from '../values/ids.ts'
import type { EmailKind, Standing } from './eligibility.ts'

/** Whether the address of a row of `contacts` gets no email of any kind. */
export const isSuppressed: Sql = sql`exists (
  select from suppressions
  where suppressions.organization_id = contacts.organization_id and suppressions.email_key = contacts.email_key
    and suppressions.reason <> 'unsubscribe')`

/**
 * May the contact of a row of `contacts` get an email of this kind? The same as `ineligibleReason`. `suppressed` is whether it is
 * suppressed, if that was determined before.
 */
export const mayReceive = (kind: EmailKind, suppressed = isSuppressed): Sql =>
  kind === 'marketing' ? sql`(contacts.subscription = 'subscribed' and not ${suppressed})` : sql`(not ${suppressed})`

/** The first reason, in alphabetical order, for which the address of a row of `contacts` is suppressed; null if it is not. */
export const suppressedBy = (organizationId: OrganizationId): Sql => sql`(
  select reason from suppressions
  where suppressions.organization_id = ${organizationId} and suppressions.email_key = contacts.email_key
    and reason <> 'unsubscribe'
  order by reason limit 1)`

export type ContactStanding = Standing & { id: ContactId }

/** Returns the current standing of these contacts. Erased ones are missing. */
export async function selectStandings(
  db: Reader,
  organizationId: OrganizationId,
  ids: readonly ContactId[],
): Promise<ContactStanding[]> {
  return db.run<ContactStanding>(sql`
    select contacts.id, contacts.subscription, ${suppressedBy(organizationId)} as suppressed_by
    from contacts
    where contacts.organization_id = ${organizationId} and contacts.id = any (${ids}::uuid[])`)
}
