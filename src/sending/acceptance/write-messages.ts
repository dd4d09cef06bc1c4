import type { ReadyVersion } from '../../content/content.ts'
import { findChangeSubscriptions, recordContactChanges } from '../../events/events.ts'
import type { Tx } from '../../platform/db/db.ts'
import { areHandedOver, enqueue, type NewJob } from '../../platform/queue/queue.ts'
import type { FlowKind } from '../../platform/values/flow-kind.ts'
import { groupBy } from '../../platform/values/group-by.ts'
import type { ContactId, MessageId } from '../../platform/values/ids.ts'
import type { EmailContent } from '../attachments/content.ts'
import type { MessageToSend } from '../attempts/attempt.ts'
import {
  insertContacts,
  insertKeys,
  insertMessages,
  type NewContact,
  type NewMessage,
  type Recipient,
  type StoredValues,
} from './accept.sql.ts'

export type DraftToWrite = {
  message: NewMessage
  /** For a worker of this process, which then need not read the message again. */
  toSend: ToSend
}

type ToSend = {
  version: ReadyVersion
  flowKind: FlowKind
  person: Recipient
  /** Undefined if the message has a content that the worker has to load. */
  content?: EmailContent | undefined
}

/**
 * Writes the contacts, idempotency keys, messages and jobs of a batch, and returns which messages were written. A
 * message is skipped if, since the lookup, its contact was created or its idempotency key was used by another request.
 * Nothing is written for a skipped message except possibly its contact.
 */
export async function writeMessages(tx: Tx, drafts: readonly DraftToWrite[]): Promise<Set<MessageId>> {
  const created = await createContacts(
    tx,
    drafts.map(({ message }) => message),
  )
  const withContact = drafts.filter(({ message }) => !message.newContact || created.has(message.contactId))
  const reserved = await insertKeys(
    tx,
    withContact.map(({ message }) => message).filter(({ idempotencyKey }) => idempotencyKey !== null),
  )
  const written = withContact.filter(
    ({ message: { id, idempotencyKey } }) => idempotencyKey === null || reserved.has(id),
  )
  insertToSend(tx, written)
  return new Set(written.map(({ message }) => message.id))
}

/** Writes messages and their jobs, and hands them over to a worker of this process. */
export function insertToSend(tx: Tx, drafts: readonly DraftToWrite[]): void {
  const toSend = new Map(drafts.map((draft) => [draft.message.id, draft.toSend]))
  insertWithJobs(
    tx,
    drafts.map(({ message }) => message),
    (message, stored) => messageToSend(message, stored, toSend.get(message.id)!),
    (message) => !message.contentId || toSend.get(message.id)!.content !== undefined,
  )
}

/** Creates the new contacts of messages and records them for webhooks that subscribe to changes of contacts. */
export async function createContacts(tx: Tx, messages: readonly NewMessage[]): Promise<Set<ContactId>> {
  const contacts = new Map<ContactId, NewContact>()
  for (const { organizationId, contactId, email, newContact } of messages)
    if (newContact) contacts.set(contactId, { organizationId, contactId, email, ...newContact })
  if (contacts.size === 0) return new Set()
  const organizationIds = [...new Set([...contacts.values()].map(({ organizationId }) => organizationId))]
  const [created, subscriptions] = await Promise.all([
    insertContacts(tx, [...contacts.values()]),
    findChangeSubscriptions(tx, organizationIds),
  ])
  for (const [organizationId, webhooks] of groupBy(subscriptions, (webhook) => webhook.organizationId)) {
    const ids = [...created].filter((id) => contacts.get(id)!.organizationId === organizationId)
    await recordContactChanges(tx, organizationId, null, { created: ids }, webhooks)
  }
  return created
}

/**
 * Writes messages and the jobs of those that are queued. `handOver` makes the input of the job from the message and its stored
 * values, for a worker of this process.
 */
export function insertWithJobs(
  tx: Tx,
  messages: readonly NewMessage[],
  handOver?: (message: NewMessage, stored: StoredValues) => MessageToSend,
  mayHandOver: (message: NewMessage) => boolean = () => true,
): void {
  if (messages.length === 0) return
  const isHanded = handOver !== undefined && areHandedOver(tx, messages.length)
  const inserted = insertMessages(tx, messages, isHanded)
  const stored = inserted.then((rows) => new Map(rows.map((row) => [row.id, row])))
  // If the statement fails, so does the transaction.
  stored.catch(() => {})
  enqueue(
    tx,
    messages.flatMap((message): NewJob[] => {
      const { organizationId, id, lane, status, sendAt } = message
      if (status !== 'queued') return []
      const job = { organizationId, kind: 'message.send' as const, lane, id, dueAt: sendAt ?? undefined }
      if (!isHanded || sendAt || !mayHandOver(message)) return [job]
      const work = stored.then((rows) => handOver(message, rows.get(id)!))
      work.catch(() => {})
      return [{ ...job, work }]
    }),
  )
}

/** What a worker would read. The context and the snapshot are the stored ones, whose keys the database has put in order. */
function messageToSend(
  { organizationId, id, flowId, versionId, contactId, newContact, email, subject, isTest, contentId, tags }: NewMessage,
  { context, recipient, queuedAt }: StoredValues,
  { version, flowKind, person, content }: ToSend,
): MessageToSend {
  const { firstName, suppressedBy } = person
  const subscription = newContact?.subscription ?? person.subscription
  const row = {
    ...{ organizationId, id, flowId, flowVersionId: versionId, flowKind, contactId },
    ...{ contactEmail: email, contactFirstName: firstName, email, subject, context, isTest, recipient, queuedAt },
    ...{ broadcastId: null, isScheduled: false, subscription, suppressedBy },
    ...{ contentId: contentId ?? null, tags: tags ? JSON.parse(tags) : null, mailServerId: null },
    hasWaited: false,
  }
  return { row, version, content }
}
