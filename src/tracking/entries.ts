import type { NewEvent } from '../events/record.ts'
import { eventNames } from '../values/event-types.ts'
import type { ContactId, EventId, FlowId, MessageId, OrganizationId } from '../values/ids.ts'

/** Someone left by a link of one of our mails, or by mail. */
export type Unsubscription = {
  /** Of the event that it becomes, unless the contact had left before. */
  id: EventId
  organizationId: OrganizationId
  messageId: MessageId
  flowId: FlowId
  contactId: ContactId
  method: 'one_click' | 'page'
  occurredAt: Date
}

/** What readers do, and what must not be lost once they were answered. */
export type Entry = { event: NewEvent } | { unsubscription: Unsubscription }

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Reads a spooled line. Undefined for what was not written whole. */
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
