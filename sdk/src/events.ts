/** Who the event is about. `email` and `first_name` are null once the contact was erased. */
export type EventContact = { id: string; email: string | null; first_name: string | null }

/** What every event carries. `message_id` and `flow_id` are null where there is no message. */
export type EventData = {
  event_id: string
  message_id: string | null
  flow_id: string | null
  contact: EventContact
  /** True if the event was made up to test the endpoint: there is no such message or contact. */
  test?: boolean
}

/** `machine` is true for scanners and privacy proxies; `ip` is there only if the organization keeps addresses. */
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

/** The data of each event, by its name. */
export type EventDataByName = {
  emailSent: EventData
  emailOpen: EngagementData
  emailClick: EngagementData & { url: string }
  emailSoftBounce: BounceData
  emailHardBounce: BounceData
  emailComplaint: EventData & { feedback_type: string | null }
  contactUnsubscribe: EventData & { method: 'one_click' | 'page' | 'api' }
}

export type EventName = keyof EventDataByName

/** One delivery's body. `event_name` tells which shape `data` has; `timestamp` is when it happened, in epoch seconds. */
export type WebhookEvent = {
  [Name in EventName]: {
    event_name: Name
    organization_id: string
    timestamp: number
    data: EventDataByName[Name]
  }
}[EventName]
