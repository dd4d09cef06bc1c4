import type { Reader } from '../../platform/db/db.ts'
import { type Sql, sql } from '../../platform/db/sql.ts'
import type { ContactId, OrganizationId } from '../../platform/values/ids.ts'

/** What decides whether a contact may get an email. */
export type EmailKind = 'transactional' | 'marketing'
export type Subscription = 'subscribed' | 'not_subscribed' | 'unsubscribed'
/** 'unsubscribe' stops marketing email only; the other reasons stop all email. */
export const suppressionReasons = ['hard_bounce', 'complaint', 'manual', 'unsubscribe'] as const
export type SuppressionReason = (typeof suppressionReasons)[number]
export type SuppressedBy = Exclude<SuppressionReason, 'unsubscribe'>
export type Standing = { subscription: Subscription | null; suppressedBy: SuppressedBy | null }

/** Why a message was not sent to a contact that no longer exists. */
export const erasedReason = 'the contact was erased'

/**
 * Returns the reason why a contact may not get an email, or null if it may. Marketing email requires a subscription; a
 * test of it only requires that the contact has not unsubscribed. `mayReceive` is the same rule in SQL.
 */
export function ineligibleReason(
  { kind, isTest = false }: { kind: EmailKind; isTest?: boolean },
  { suppressedBy, subscription }: Standing,
): SuppressedBy | 'unsubscribed' | 'not_subscribed' | null {
  if (suppressedBy) return suppressedBy
  if (kind === 'transactional') return null
  if (subscription === 'unsubscribed') return 'unsubscribed'
  return subscription === 'subscribed' || isTest ? null : 'not_subscribed'
}

/** Whether the address of a row of `contacts` gets no email of any kind. */
export const isSuppressed = (organizationId: OrganizationId): Sql => sql`exists (
  select from suppressions
  where suppressions.organization_id = ${organizationId} and suppressions.email_key = contacts.email_key
    and suppressions.reason <> 'unsubscribe')`

/**
 * A condition on rows of `contacts`: whether the contact may get an email of this kind, as in `ineligibleReason`.
 * `suppressed` is `isSuppressed`, or its result.
 */
export const mayReceive = (kind: EmailKind, suppressed: Sql): Sql =>
  kind === 'marketing' ? sql`(contacts.subscription = 'subscribed' and not ${suppressed})` : sql`(not ${suppressed})`

/** The alphabetically first reason why the address of a row of `contacts` is suppressed; null if it is not. */
export const suppressedBy = (organizationId: OrganizationId): Sql => sql`(
  select reason from suppressions
  where suppressions.organization_id = ${organizationId} and suppressions.email_key = contacts.email_key
    and reason <> 'unsubscribe'
  order by reason limit 1)`

export type ContactStanding = Standing & { id: ContactId }

/** Returns the current standing of these contacts. Erased ones are missing. */
export const selectStandings = (db: Reader, organizationId: OrganizationId, ids: readonly ContactId[]) =>
  db.run<ContactStanding>(sql`
    select contacts.id, contacts.subscription, ${suppressedBy(organizationId)} as suppressed_by
    from contacts
    where contacts.organization_id = ${organizationId} and contacts.id = any (${ids}::uuid[])`)
