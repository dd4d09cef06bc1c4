// The catalog of events: their names, their descriptions, and the `data` that webhooks receive.

/** Events of emails and unsubscriptions. They are counted and listed, and webhooks with `all_events` receive them. */
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

/**
 * Changes of contacts. They are recorded only while a webhook selects them, and are not counted. Webhooks with `all_events`
 * do not receive them unless they are selected by name: an import can cause as many as it has rows.
 */
export const contactChangeNames = ['contactCreated', 'contactUpdated', 'contactSubscribed'] as const
export type ContactChangeName = (typeof contactChangeNames)[number]

/** Everything that a webhook can receive. */
export const webhookEventNames = [...eventNames, ...contactChangeNames] as const
export type WebhookEventName = (typeof webhookEventNames)[number]

export const isWebhookEventName = (text: string): text is WebhookEventName =>
  (webhookEventNames as readonly string[]).includes(text)
export const isContactChangeName = (text: string): text is ContactChangeName =>
  (contactChangeNames as readonly string[]).includes(text)

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
  /** Of changes of a contact: what caused it, for example the API key. Null for a contact that was created by a send. */
  source?: EventSource | null
  /** Of contactCreated and contactSubscribed. */
  subscription?: 'subscribed' | 'not_subscribed' | 'unsubscribed'
  /** Of contactUpdated: the names of the changed fields. */
  fields?: string[]
}

/** `id` is that of the user, API key or import. */
export type EventSource = { type: 'user' | 'api_key' | 'import' | 'recipient' | 'system'; id: string | null }

const exampleSource: EventSource = { type: 'api_key', id: 'key_01jwe5wrg0e0080000000000f1' }

export const eventTypes: Record<WebhookEventName, { description: string; example: EventData & { machine?: boolean } }> =
  {
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
    contactCreated: {
      description: 'A contact was created. Not part of "all events": select it by name.',
      example: { source: exampleSource, subscription: 'subscribed' },
    },
    contactUpdated: {
      description:
        'The address, a name or an attribute of a contact was changed. Not part of "all events": select it by name.',
      example: { source: exampleSource, fields: ['first_name', 'attributes'] },
    },
    contactSubscribed: {
      description:
        'A contact was subscribed to marketing email: when it was created, added to a group, or subscribed again. Not part of "all events": select it by name.',
      example: { source: exampleSource, subscription: 'subscribed' },
    },
  }
