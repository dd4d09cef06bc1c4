export { type ContactStanding, isSuppressed, mayReceive, selectStandings, suppressedBy } from './eligibility.sql.ts'

/** What decides whether a contact may get an email. */
export type EmailKind = 'transactional' | 'marketing'
export type Subscription = 'subscribed' | 'not_subscribed' | 'unsubscribed'
export type SuppressedBy = 'hard_bounce' | 'complaint' | 'manual'
export type Standing = { subscription: Subscription | null; suppressedBy: SuppressedBy | null }

/** Why a message was not sent to a contact that no longer exists. */
export const erasedReason = 'the contact was erased'

/**
 * May this contact get this email? Returns the reason if not, or null. Marketing email goes to subscribed contacts only; a test of
 * it also to others that have not unsubscribed. `mayReceive` is the same as SQL.
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
