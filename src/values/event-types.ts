// The catalog of events: what there is to subscribe to, to count, and to read in a webhook's `data`.

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

/** What an event carries beside its message and contact, as it stands in the webhook's `data`. */
export type EventData = {
  url?: string
  user_agent?: string | null
  ip?: string | null
  bounce?: BounceDetail
  feedback_type?: string
  method?: 'one_click' | 'page' | 'api'
}

export const eventTypes: Record<EventName, { description: string; example: EventData & { machine?: boolean } }> = {
  emailSent: { description: 'The relay took an email.', example: {} },
  emailOpen: {
    description: 'An email is opened. The field "machine" tells privacy proxies and scanners from people.',
    example: { machine: false, user_agent: 'Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5)' },
  },
  emailClick: {
    description: 'A link in an email is clicked.',
    example: {
      machine: false,
      user_agent: 'Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5)',
      url: 'https://example.com/orders/1042',
    },
  },
  emailSoftBounce: {
    description:
      'An email could not be delivered this time: the mailbox is full, the server busy, the message refused.',
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
    description: 'An email hard-bounces: there is no such address. It gets no more mail.',
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
    description: 'The recipient reported an email as spam. The address gets no more mail.',
    example: { feedback_type: 'abuse' },
  },
  contactUnsubscribe: {
    description: 'A contact unsubscribes from marketing email.',
    example: { method: 'one_click' },
  },
}
