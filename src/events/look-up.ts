import type { Reader } from '../db/db.ts'
import type { ContactId, MessageId } from '../values/ids.ts'
import type { Dimension } from './flow-counters.ts'
import { contactsOf, countedMessagesOf, type KnownMessage } from './known-messages.ts'
import { findMessagesOfEvents } from './look-up.sql.ts'
import {
  type EventContact,
  findFirstOccurrences,
  type KnownOccurrence,
  mayBeFirst,
  type NewEvent,
} from './record.sql.ts'

/** What is recorded about the subjects of events before these are written. */
export type Subjects = {
  /** Erased contacts are missing. */
  contacts: ReadonlyMap<ContactId, EventContact>
  /** What is counted of messages. */
  messages: ReadonlyMap<MessageId, readonly Dimension[]>
  /** The recorded first occurrences, if they were looked up. */
  firsts?: readonly KnownOccurrence[]
}

export async function findSubjects(
  db: Reader,
  events: readonly NewEvent[],
  known: readonly KnownMessage[],
): Promise<Subjects> {
  const [contacts, messages] = await Promise.all([contactsOf(db, events, known), countedMessagesOf(db, events, known)])
  return { contacts, messages }
}

/** The same with the first occurrences. */
export async function findSubjectsAndFirsts(db: Reader, events: readonly NewEvent[]): Promise<Subjects> {
  const contacts = new Map<ContactId, EventContact>()
  const messages = new Map<MessageId, readonly Dimension[]>()
  const firsts: KnownOccurrence[] = []
  for (const row of await findMessagesOfEvents(db, oncePerSubject(events))) {
    const { messageId, eventName, versionId, domain, contactId, email, firstName, firstAt } = row
    const version: Dimension = { kind: 'version', value: versionId }
    messages.set(messageId, domain === null ? [version] : [version, { kind: 'domain', value: domain }])
    if (email !== null) contacts.set(contactId, { email, firstName })
    if (firstAt !== null) firsts.push({ subjectId: messageId, eventName, occurredAt: firstAt })
  }
  // Events without a message, or with one that does not exist.
  const others = events.filter(({ messageId }) => messageId === null || !messages.has(messageId))
  if (others.length === 0) return { contacts, messages, firsts }
  const [contactsOfOthers, firstsOfOthers] = await Promise.all([
    contactsOf(db, others, []),
    findFirstOccurrences(db, others.filter(mayBeFirst)),
  ])
  return { contacts: new Map([...contacts, ...contactsOfOthers]), messages, firsts: [...firsts, ...firstsOfOthers] }
}

const oncePerSubject = (events: readonly NewEvent[]): NewEvent[] => {
  const ofMessages = events.filter(({ messageId }) => messageId !== null)
  const keyOf = ({ messageId, contactId, eventName }: NewEvent) => `${messageId} ${contactId} ${eventName}`
  return [...new Map(ofMessages.map((event) => [keyOf(event), event])).values()]
}
