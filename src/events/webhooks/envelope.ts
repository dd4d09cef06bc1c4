import type { EventData, WebhookEventName } from '../../platform/values/event-types.ts'
import {
  type ContactId,
  type EventId,
  type FlowId,
  type MessageId,
  type OrganizationId,
  toText,
} from '../../platform/values/ids.ts'

/** An event for a webhook. The contact's fields are null after it was erased; events of broadcasts have no contact. */
export type WebhookEvent = {
  organizationId: OrganizationId
  id: EventId
  eventName: WebhookEventName
  occurredAt: Date
  messageId: MessageId | null
  flowId: FlowId | null
  machine: boolean
  data: EventData
  contact: { id: ContactId; email: string | null; firstName: string | null } | null
  /** Marks a sample event, so that receivers can ignore it. */
  isTest?: boolean
}

/** Returns the body of a delivery. It is serialized once, stored, and sent byte-identically on every attempt. */
export const webhookBody = (event: WebhookEvent): string => JSON.stringify(webhookPayload(event))

/** Returns an event as webhooks and the event feed contain it. */
export function webhookPayload(event: WebhookEvent) {
  return {
    event_name: event.eventName,
    organization_id: toText('org', event.organizationId),
    timestamp: Math.floor(event.occurredAt.getTime() / 1000),
    data: {
      event_id: toText('evt', event.id),
      message_id: event.messageId && toText('msg', event.messageId),
      flow_id: event.flowId && toText('flw', event.flowId),
      contact: event.contact && {
        id: toText('con', event.contact.id),
        email: event.contact.email,
        first_name: event.contact.firstName,
      },
      ...(isReaction(event.eventName) && { machine: event.machine, user_agent: null }),
      ...event.data,
      ...(event.isTest && { test: true }),
    },
  }
}

const isReaction = (name: WebhookEventName) => name === 'emailOpen' || name === 'emailClick'
