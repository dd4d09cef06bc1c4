import type { Reader } from '../../platform/db/db.ts'
import type { EventTag } from '../../platform/values/event-types.ts'
import type { ContactId, FlowVersionId, MessageId } from '../../platform/values/ids.ts'
import { dimensionsOf, findCountedMessages } from './flow-counters.sql.ts'
import { type Dimension, getOrAdd } from './flow-counters.ts'
import { type EventContact, findContactsOf, type NewEvent } from './record.sql.ts'

/** What the caller knows about a message whose contact exists, so that it is not looked up again. */
export type KnownMessage = {
  id: MessageId
  flowVersionId: FlowVersionId
  /** The address that the message was sent to. */
  email: string
  contactId: ContactId
  /** The current address of the contact. Null if the contact has to be looked up. */
  contactEmail: string | null
  contactFirstName: string | null
  tags: EventTag[] | null
}

/** Returns the contacts of events by id. Looks up those that are not known. Erased contacts are missing. */
export async function contactsOf(
  db: Reader,
  events: readonly NewEvent[],
  known: readonly KnownMessage[],
): Promise<ReadonlyMap<ContactId, EventContact>> {
  const contacts = new Map<ContactId, EventContact>()
  for (const { contactId, contactEmail, contactFirstName } of known)
    if (contactEmail !== null) contacts.set(contactId, { email: contactEmail, firstName: contactFirstName })
  const missing = events.filter(({ contactId }) => !contacts.has(contactId))
  if (missing.length > 0) for (const [id, contact] of await findContactsOf(db, missing)) contacts.set(id, contact)
  return contacts
}

/**
 * Returns what is counted of the messages of events: their version and the domain of their recipient. Also returns the
 * tags of messages that have some.
 */
export async function countedMessagesOf(
  db: Reader,
  events: readonly NewEvent[],
  known: readonly KnownMessage[],
): Promise<{ dimensions: ReadonlyMap<MessageId, readonly Dimension[]>; tags: ReadonlyMap<MessageId, EventTag[]> }> {
  const dimensionsOfMessage = dimensionsOfKnown()
  const messages = new Map<MessageId, readonly Dimension[]>()
  const tags = new Map<MessageId, EventTag[]>()
  for (const message of known) {
    messages.set(message.id, dimensionsOfMessage(message))
    if (message.tags) tags.set(message.id, message.tags)
  }
  const missing = events.filter(({ messageId }) => messageId !== null && !messages.has(messageId))
  if (missing.length > 0)
    for (const [id, dimensions] of await findCountedMessages(db, missing, tags)) messages.set(id, dimensions)
  return { dimensions: messages, tags }
}

/** Returns the events with the tags of their messages. */
export function withTags(events: readonly NewEvent[], tagsOf: ReadonlyMap<MessageId, EventTag[]>): readonly NewEvent[] {
  if (tagsOf.size === 0) return events
  return events.map((event) => {
    const tags = event.messageId && tagsOf.get(event.messageId)
    return tags ? { ...event, data: { ...event.data, tags } } : event
  })
}

/** The messages of a batch have few versions and domains, which share their arrays. */
function dimensionsOfKnown() {
  const byVersion = new Map<FlowVersionId, Map<string, readonly Dimension[]>>()
  return ({ flowVersionId: versionId, email }: KnownMessage): readonly Dimension[] => {
    const domain = email.slice(email.lastIndexOf('@') + 1)
    const byDomain = getOrAdd(byVersion, versionId, () => new Map<string, readonly Dimension[]>())
    return getOrAdd(byDomain, domain, () => dimensionsOf({ versionId, domain: domain.toLowerCase() }))
  }
}
