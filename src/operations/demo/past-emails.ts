import { recordEvents } from '../../events/events.ts'
import type { Db } from '../../platform/db/db.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import { insertPastMessages } from '../../sending/sending.ts'
import type { PlannedMessage } from './planned-message.ts'
import { eventsOf } from './reactions.ts'

const messagesPerBatch = 2_000

export type PastEmailOptions = {
  organizationId: OrganizationId
  endMs: number
  eventsMax?: number
  onProgress?: (events: number) => void
}

/** Stores emails of the past with their events, newest first, and returns the number of events. */
export async function addPastEmails(
  db: Db,
  messages: readonly PlannedMessage[],
  { organizationId, endMs, eventsMax = Number.POSITIVE_INFINITY, onProgress }: PastEmailOptions,
): Promise<number> {
  let events = 0
  for (let end = messages.length; end > 0 && events < eventsMax; end -= messagesPerBatch) {
    const batch = messages.slice(Math.max(0, end - messagesPerBatch), end)
    const happened = batch.flatMap((message) => eventsOf(organizationId, message, endMs)).slice(0, eventsMax - events)
    await db.begin(async (tx) => {
      const past = batch.map(({ id, flow, contact, atMs, bounce, subject, context, broadcastId }) => ({
        ...{ id, flowId: flow.id, flowVersionId: flow.versionId, contactId: contact.id, email: contact.email },
        ...{ subject, context, broadcastId },
        status: bounce ? ('bounced' as const) : ('sent' as const),
        sentAt: new Date(atMs),
      }))
      await insertPastMessages(tx, organizationId, past)
      await recordEvents(tx, happened)
    })
    events += happened.length
    onProgress?.(events)
  }
  return events
}
