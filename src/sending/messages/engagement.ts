/** How far an email got, from the first step to the last. */
export const engagements = ['delivered', 'opened', 'clicked', 'unsubscribed', 'complained', 'bounced'] as const
export type Engagement = (typeof engagements)[number]

/** What lists of messages and of recipients of broadcasts can be filtered by. What was sent was delivered or bounced. */
export const engagementFilters = [
  'sent',
  'delivered',
  'opened',
  'clicked',
  'not_opened',
  'bounced',
  'complained',
  'unsubscribed',
] as const
export type EngagementFilter = (typeof engagementFilters)[number]

type Reacted = {
  status: string
  isTest: boolean
  firstOpenedAt: Date | null
  firstClickedAt: Date | null
  complainedAt: Date | null
  unsubscribedAt: Date | null
}

/** Returns null if the email was not sent, or if it is a test, which has no events. */
export function engagementOf(message: Reacted): Engagement | null {
  if (message.isTest) return null
  if (message.status === 'bounced') return 'bounced'
  if (message.status !== 'sent') return null
  if (message.complainedAt) return 'complained'
  if (message.unsubscribedAt) return 'unsubscribed'
  if (message.firstClickedAt) return 'clicked'
  return message.firstOpenedAt ? 'opened' : 'delivered'
}
