import type { OrganizationId } from '../../platform/values/ids.ts'

/** A limit of email, for example of a mail server. Several may apply to an email. */
export type Limit = {
  organizationId: OrganizationId
  /** Identifies it within the organization, for example `server/…` or `site/google`. */
  key: string
  /** Names it in the reason of an email that waits, for example `email to Google`. */
  name: string
  perSecond: number | null
  /** Days begin at midnight UTC. */
  perDay: number | null
  /** Emails on the first, second, … day on which something is sent. Without a limit after the last one. */
  plan?: readonly number[] | undefined
  /** True if it counts urgent emails but never delays them. Only without a rate. */
  sparesUrgent?: true | undefined
  /** True if emails of a broadcast wait in it: it asks again instead of each of them. */
  waitsInBroadcast?: true | undefined
}

/** A limit that lets no further email through until then. */
export type LimitHold = { cause: 'daily_limit' | 'limit'; until: number; limit: Limit }

/**
 * urgent: transactional. waited: bulk email that had to wait before, so it goes before other bulk email. bulk: all others.
 */
export type Urgency = 'urgent' | 'waited' | 'bulk'
export const urgencies: readonly Urgency[] = ['urgent', 'waited', 'bulk']
