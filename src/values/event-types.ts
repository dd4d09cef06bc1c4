// The catalog of events: their names, their descriptions, and the `data` that webhooks receive.

export const eventNames = [
  'emailSent',
  'emailOpen',
  'emailClick',
  'emailSoftBounce',
  'emailHardBounce',
  'emailComplaint',
  'contactUnsubscribe',
] as const
export type EventName = (typeof eventNames)[number]

export const isEventName = (text: string): text is EventName => (eventNames as readonly string[]).includes(text)

export type BounceDetail = {
  type: 'hard' | 'soft'
  status: string | null
  reply_code: number | null
  reason: string
  diagnostic: string | null
  /** How certain the classification is. A verdict of low confidence is always soft. */
  confidence?: 'high' | 'medium' | 'low'
  /** The line of the reply or the bounce mail that decided the classification. */
  evidence?: string | null
}

/** The `data` of a webhook event, beside its message and contact. */
export type EventData = {
  url?: string
  user_agent?: string | null
  ip?: string | null
  bounce?: BounceDetail
  feedback_type?: string
  method?: 'one_click' | 'page' | 'api'
}

export const eventTypes: Record<EventName, { description: string; example: EventData & { machine?: boolean } }> = {
  emailSent: { description: 'The relay accepted an email.', example: {} },
  emailOpen: {
    description: 'An email was opened. The field "machine" is true for privacy proxies and scanners.',
    example: { machine: false, user_agent: 'Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5)' },
  },
  emailClick: {
    description: 'A link in an email was clicked.',
    example: {
      machine: false,
      user_agent: 'Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5)',
      url: 'https://example.com/orders/1042',
    },
  },
  emailSoftBounce: {
    description: 'An email could not be delivered for a temporary reason, for example because the mailbox is full.',
    example: {
      bounce: {
        type: 'soft',
        status: '4.2.2',
        reply_code: 452,
        reason: 'mailbox_full',
        diagnostic: '452 4.2.2 The mailbox is over quota',
        confidence: 'high',
        evidence: '452 4.2.2 The mailbox is over quota',
      },
    },
  },
  emailHardBounce: {
    description: 'An email could not be delivered because the address does not exist. The address is suppressed.',
    example: {
      bounce: {
        type: 'hard',
        status: '5.1.1',
        reply_code: 550,
        reason: 'user_unknown',
        diagnostic: '550 5.1.1 No such user here',
        confidence: 'high',
        evidence: '550 5.1.1 No such user here',
      },
    },
  },
  emailComplaint: {
    description: 'The recipient reported an email as spam. The address is suppressed.',
    example: { feedback_type: 'abuse' },
  },
  contactUnsubscribe: {
    description: 'A contact unsubscribed from marketing email.',
    example: { method: 'one_click' },
  },
}
