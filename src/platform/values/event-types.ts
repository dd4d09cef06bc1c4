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

/** Events of broadcasts. They belong to no contact, are not recorded, and are delivered only to webhooks that select them by name. */
export const broadcastEventNames = ['broadcastStarted', 'broadcastFinished'] as const
export type BroadcastEventName = (typeof broadcastEventNames)[number]

/** Events of what an organization sends with. */
const sendingEventNames = ['domainStatusChanged', 'mailServerFailing', 'mailServerRecovered'] as const

/** Events of an organization, which belong to no contact either. */
export const organizationEventNames = [...broadcastEventNames, ...sendingEventNames] as const
export type OrganizationEventName = (typeof organizationEventNames)[number]

/** Everything that a webhook can receive. */
export const webhookEventNames = [...eventNames, ...contactChangeNames, ...organizationEventNames] as const
export type WebhookEventName = (typeof webhookEventNames)[number]

export const isContactChangeName = (text: string): text is ContactChangeName =>
  (contactChangeNames as readonly string[]).includes(text)
export const isOrganizationEventName = (text: string): text is OrganizationEventName =>
  (organizationEventNames as readonly string[]).includes(text)
/** Only messages and broadcasts belong to a flow. */
export const hasFlow = (text: string): boolean =>
  !isContactChangeName(text) && !(sendingEventNames as readonly string[]).includes(text)
/** Webhooks with `all_events` do not receive these unless they select them by name. */
export const isSelectedByName = (text: string): text is ContactChangeName | OrganizationEventName =>
  isContactChangeName(text) || isOrganizationEventName(text)

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

/** Given by the sender of an email. */
export type EventTag = { name: string; value: string }

/** The `data` of a webhook event, beside its message and contact. */
export type EventData = {
  /** Of emails with tags. */
  tags?: EventTag[]
  url?: string
  user_agent?: string | null
  ip?: string | null
  bounce?: BounceDetail
  feedback_type?: string
  method?: 'one_click' | 'page' | 'api'
  /** True for events of reserved recipients (simulated-recipients.ts). */
  is_test?: boolean
  /** Of changes of a contact: what caused it, for example the API key. Null for a contact that was created by a send. */
  source?: EventSource | null
  /** Of contactCreated and contactSubscribed. */
  subscription?: 'subscribed' | 'not_subscribed' | 'unsubscribed'
  /** Of contactUpdated: the names of the changed fields. */
  fields?: string[]
  /** Of broadcasts and domains. */
  id?: string
  name?: string
  status?: string
  counts?: Record<string, number>
  /** Of a mail server. */
  host?: string
  reason?: string | null
  since?: string
}

/** `id` is that of the user, API key or import. */
export type EventSource = { type: 'user' | 'api_key' | 'import' | 'recipient' | 'system'; id: string | null }

const exampleSource: EventSource = { type: 'api_key', id: 'key_01jwe5wrg0e0080000000000f1' }

const exampleBroadcast = { id: 'brc_01jwe5wrg0e0080000000000b1', name: 'November news' }
const exampleCounts = {
  recipients: 1204,
  pending: 0,
  queued: 0,
  sent: 1201,
  bounced: 3,
  suppressed: 0,
  unsubscribed: 0,
  failed: 0,
  cancelled: 0,
}

const exampleMailServer = {
  id: 'mse_01jwe5wrg0e0080000000000m1',
  name: 'Main server',
  host: 'smtp.example.com',
  since: '2026-01-15T09:00:00.000Z',
}

export const eventTypes: Record<WebhookEventName, { description: string; example: EventData & { machine?: boolean } }> =
  {
    emailSent: { description: 'The mail server accepted an email.', example: {} },
    emailOpen: {
      description:
        'An email was opened. The field "machine" is true for automated opens, by privacy proxies and scanners.',
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
      description: 'A contact was created.',
      example: { source: exampleSource, subscription: 'subscribed' },
    },
    contactUpdated: {
      description: 'The address, a name or an attribute of a contact was changed.',
      example: { source: exampleSource, fields: ['first_name', 'attributes'] },
    },
    contactSubscribed: {
      description:
        'A contact was subscribed to marketing email: when it was created, added to a group, or subscribed again.',
      example: { source: exampleSource, subscription: 'subscribed' },
    },
    broadcastStarted: {
      description: 'A broadcast started, or its failed recipients are being retried.',
      example: {
        ...exampleBroadcast,
        status: 'sending',
        counts: { ...exampleCounts, pending: 1204, sent: 0, bounced: 0 },
      },
    },
    broadcastFinished: {
      description: 'A broadcast has ended: it was sent or cancelled, or has expired.',
      example: { ...exampleBroadcast, status: 'sent', counts: exampleCounts },
    },
    domainStatusChanged: {
      description:
        'A sending domain was verified, or a required DNS record has vanished. Such a domain is used for another 24 hours.',
      example: { id: 'dom_01jwe5wrg0e0080000000000d1', name: 'example.com', status: 'warning' },
    },
    mailServerFailing: {
      description: 'A mail server has not accepted email for some seconds. Its emails go through another one, or wait.',
      example: { ...exampleMailServer, reason: 'smtp.example.com:587 refused the connection' },
    },
    mailServerRecovered: {
      description: 'A mail server accepts email again. `since` is when it began to fail.',
      example: { ...exampleMailServer, reason: null },
    },
  }
