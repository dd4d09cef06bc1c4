/** The contact of the event. `email` and `first_name` are null if the contact was erased. */
export type EventContact = { id: string; email: string | null; first_name: string | null }

/** Fields of every event. `message_id` and `flow_id` are null if the event has no message. */
export type EventData = {
  event_id: string
  message_id: string | null
  flow_id: string | null
  contact: EventContact
  /** True for a test event: its message and contact do not exist. */
  test?: boolean
  /** True for an event of a reserved test recipient. */
  is_test?: boolean
}

/** `machine` is true for scanners and privacy proxies; `ip` is present only if the organization stores IP addresses. */
export type EngagementData = EventData & { machine: boolean; user_agent: string | null; ip?: string | null }

export type BounceData = EventData & {
  bounce: {
    type: string
    status: string | null
    reply_code: number | null
    reason: string | null
    diagnostic: string | null
    /** How certain the classification is. A verdict of low confidence is always soft. */
    confidence?: 'high' | 'medium' | 'low'
    /** The line of the reply or the bounce mail that decided the classification. */
    evidence?: string | null
  }
}

export type ContactSubscription = 'subscribed' | 'not_subscribed' | 'unsubscribed'

/** `source` is null if the contact was created by sending an email to a new address. */
export type ContactChangeData = {
  source: { type: 'user' | 'api_key' | 'import' | 'recipient' | 'system'; id: string | null } | null
}

/** The data of events of broadcasts. `counts` has the number of recipients, and how many of them have which status. */
export type BroadcastData = {
  event_id: string
  message_id: null
  flow_id: string
  contact: null
  id: string
  name: string
  status: string
  counts: Record<
    'recipients' | 'pending' | 'queued' | 'sent' | 'bounced' | 'suppressed' | 'unsubscribed' | 'failed' | 'cancelled',
    number
  >
  /** True for a test event: its broadcast does not exist. */
  test?: boolean
}

/** The data of a change of a sending domain. */
export type DomainData = {
  event_id: string
  message_id: null
  flow_id: null
  contact: null
  id: string
  name: string
  status: 'verified' | 'warning' | 'unverified'
  /** True for a test event: its domain does not exist. */
  test?: boolean
}

/** The data of a mail server that began or ended to fail. */
export type MailServerData = {
  event_id: string
  message_id: null
  flow_id: null
  contact: null
  id: string
  name: string
  host: string
  /** Null if it accepts email again. */
  reason: string | null
  /** When it began to fail. */
  since: string
  /** True for a test event: its mail server does not exist. */
  test?: boolean
}

/** The data of each event by event name. */
export type EventDataByName = {
  emailSent: EventData
  emailOpen: EngagementData
  emailClick: EngagementData & { url: string }
  emailSoftBounce: BounceData
  emailHardBounce: BounceData
  emailComplaint: EventData & { feedback_type: string | null }
  contactUnsubscribe: EventData & { method: 'one_click' | 'page' | 'api' }
  contactCreated: EventData & ContactChangeData & { subscription: ContactSubscription }
  contactUpdated: EventData & ContactChangeData & { fields: string[] }
  contactSubscribed: EventData & ContactChangeData & { subscription: ContactSubscription }
  broadcastStarted: BroadcastData
  broadcastFinished: BroadcastData
  domainStatusChanged: DomainData
  mailServerFailing: MailServerData
  mailServerRecovered: MailServerData
}

export type EventName = keyof EventDataByName

/** The names of all events. */
export const eventNames = [
  'emailSent',
  'emailOpen',
  'emailClick',
  'emailSoftBounce',
  'emailHardBounce',
  'emailComplaint',
  'contactUnsubscribe',
  'contactCreated',
  'contactUpdated',
  'contactSubscribed',
  'broadcastStarted',
  'broadcastFinished',
  'domainStatusChanged',
  'mailServerFailing',
  'mailServerRecovered',
] as const satisfies readonly EventName[]

/** The events that metrics count: all except changes of contacts and events of the organization. */
export type MetricEventName = Exclude<
  EventName,
  | 'contactCreated'
  | 'contactUpdated'
  | 'contactSubscribed'
  | 'broadcastStarted'
  | 'broadcastFinished'
  | 'domainStatusChanged'
  | 'mailServerFailing'
  | 'mailServerRecovered'
>

/** The body of a delivery. `event_name` determines the type of `data`; `timestamp` is in seconds since the epoch. */
export type WebhookEvent = {
  [Name in EventName]: {
    event_name: Name
    organization_id: string
    timestamp: number
    data: EventDataByName[Name]
  }
}[EventName]
