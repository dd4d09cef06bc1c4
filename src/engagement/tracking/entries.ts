import type { NewEvent } from '../../events/events.ts'
import { eventNames } from '../../platform/values/event-types.ts'
import type { ContactId, EventId, FlowId, MessageId, OrganizationId } from '../../platform/values/ids.ts'

/** An unsubscription through the link of an email, or by email. */
export type Unsubscription = {
  /** The id of its event, unless the contact had unsubscribed before. */
  id: EventId
  organizationId: OrganizationId
  messageId: MessageId
  flowId: FlowId
  contactId: ContactId
  method: 'one_click' | 'page'
  occurredAt: Date
  /** The address of the recipient, if the organization stores addresses. */
  ip?: string
}

/** An action of a recipient, which must not be lost after the response. */
export type Entry = { event: NewEvent } | { unsubscription: Unsubscription }

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Parses a spooled line. Returns undefined if it is incomplete. */
export function readEntry(line: string): Entry | undefined {
  try {
    const entry = JSON.parse(line) as Entry
    const content = 'event' in entry ? entry.event : entry.unsubscription
    const occurredAt = new Date(content.occurredAt)
    const isWhole = uuid.test(content.id) && uuid.test(content.organizationId) && !Number.isNaN(occurredAt.getTime())
    if (!isWhole) return undefined
    if ('unsubscription' in entry) return { unsubscription: { ...entry.unsubscription, occurredAt } }
    return eventNames.includes(entry.event.eventName) ? { event: { ...entry.event, occurredAt } } : undefined
  } catch {
    return undefined
  }
}
