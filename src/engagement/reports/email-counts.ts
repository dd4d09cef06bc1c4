import { eventNames } from '../../platform/values/event-types.ts'
import type { Count } from './spans.ts'

/** What the reports count: events, and emails that were rejected at once or came back. */
export const countedNames = [...eventNames, 'emailReturned', 'emailRejected'] as const

/** Emails by the day on which they left: `sent` were delivered or bounced. These words mean the same in every report. */
export type Emails = { sent: number; delivered: number; bounced: number }

type EmailCounts = Record<'emailSent' | 'emailReturned' | 'emailRejected', Count>

export const emailsOf = ({ emailSent, emailReturned, emailRejected }: EmailCounts): Emails => ({
  sent: emailSent.unique + emailRejected.unique,
  delivered: emailSent.unique - emailReturned.unique,
  bounced: emailReturned.unique + emailRejected.unique,
})

export const withEmails = <Counted extends EmailCounts>(counts: Counted) => ({ ...counts, ...emailsOf(counts) })
