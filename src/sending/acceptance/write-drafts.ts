import type { ReadyVersion } from '../../content/content.ts'
import { findChangeSubscriptions, recordContactChanges } from '../../events/events.ts'
import type { Tx } from '../../platform/db/db.ts'
import { areHandedOver, enqueue, type NewJob } from '../../platform/queue/queue.ts'
import type { FlowKind } from '../../platform/values/flow-kind.ts'
import { groupBy } from '../../platform/values/group-by.ts'
import type { ContactId } from '../../platform/values/ids.ts'
import type { EmailContent } from '../attachments/content.ts'
import { type ContentToWrite, writeContents } from '../attachments/contents.ts'
import type { MessageToSend } from '../attempts/outgoing.ts'
import {
  insertContacts,
  insertKeys,
  insertMessages,
  type NewContact,
  type NewKey,
  type NewMessage,
  type Recipient,
  releaseKeys,
  type StoredValues,
} from './accept.sql.ts'

export type MessageToWrite = {
  message: NewMessage
  /** For a worker of this process, which then need not read the message again. */
  toSend: {
    version: ReadyVersion
    flowKind: FlowKind
    person: Recipient
    /** Undefined if the message has a content that the worker has to load. */
    content: EmailContent | undefined
  }
}

/** The rows of a submission. */
export type Rows = { messages: MessageToWrite[]; contents: ContentToWrite[]; keys: NewKey[] }

/**
 * Writes the contacts, idempotency keys, messages, jobs and contents of submissions, and returns the submissions that were
 * written: all but those of which, since the look-up, a contact was created or a key was used by another process. Of those,
 * nothing is written except possibly contacts. The keys of different submissions must be different.
 */
export async function writeDrafts<Draft extends Rows>(tx: Tx, drafts: readonly Draft[]): Promise<Set<Draft>> {
  const created = await createContacts(tx, drafts)
  const withContacts = drafts.filter(({ messages }) =>
    messages.every(({ message: { newContact, contactId } }) => !newContact || created.has(contactId)),
  )
  const reserved = await insertKeys(
    tx,
    withContacts.flatMap(({ keys }) => keys),
  )
  const isReserved = ({ messageId }: NewKey) => reserved.has(messageId)
  const written = withContacts.filter(({ keys }) => keys.every(isReserved))
  // Otherwise the other keys of a submission would belong to messages that do not exist.
  const unused = withContacts.flatMap(({ keys }) => (keys.every(isReserved) ? [] : keys.filter(isReserved)))
  for (const [organizationId, keys] of groupBy(unused, (key) => key.organizationId))
    await releaseKeys(tx, organizationId, keys)
  writeMessages(
    tx,
    written.flatMap(({ messages }) => messages),
  )
  const contents = written.flatMap((draft) => draft.contents)
  if (contents.length > 0) await writeContents(tx, contents)
  return new Set(written)
}

/** Creates the new contacts of messages and records them for webhooks that subscribe to changes of contacts. */
async function createContacts(tx: Tx, drafts: readonly Rows[]): Promise<Set<ContactId>> {
  const contacts = new Map<ContactId, NewContact>()
  for (const { messages } of drafts)
    for (const { message } of messages) {
      const { organizationId, contactId, email, newContact } = message
      if (newContact) contacts.set(contactId, { organizationId, contactId, email, ...newContact })
    }
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

/** Writes messages and the jobs of those that are queued, and hands them over to a worker of this process if they are few. */
function writeMessages(tx: Tx, messages: readonly MessageToWrite[]): void {
  if (messages.length === 0) return
  const areHanded = areHandedOver(tx, messages.length)
  const inserted = insertMessages(
    tx,
    messages.map(({ message }) => message),
    areHanded,
  )
  const stored = inserted.then((rows) => new Map(rows.map((row) => [row.id, row])))
  // If the statement fails, so does the transaction.
  stored.catch(() => {})
  enqueue(
    tx,
    messages.flatMap((each): NewJob[] => {
      const { organizationId, id, lane, status, sendAt, contentId } = each.message
      if (status !== 'queued') return []
      const job = { organizationId, kind: 'message.send' as const, lane, id, dueAt: sendAt ?? undefined }
      if (!areHanded || sendAt || (contentId && !each.toSend.content)) return [job]
      const work = stored.then((rows) => messageToSend(each, rows.get(id)!))
      work.catch(() => {})
      return [{ ...job, work }]
    }),
  )
}

/** What a worker would read. The context and the snapshot are the stored ones, whose keys the database has put in order. */
function messageToSend(
  { message, toSend: { version, flowKind, person, content } }: MessageToWrite,
  { context, recipient, queuedAt }: StoredValues,
): MessageToSend {
  const { organizationId, id, flowId, versionId, contactId, newContact, email, subject, isTest, contentId, tags } =
    message
  const { firstName, suppressedBy } = person
  const subscription = newContact?.subscription ?? person.subscription
  const row = {
    ...{ organizationId, id, flowId, flowVersionId: versionId, flowKind, contactId },
    ...{ contactEmail: email, contactFirstName: firstName, email, subject, context, isTest, recipient, queuedAt },
    ...{ broadcastId: null, isScheduled: false, subscription, suppressedBy },
    ...{ contentId, tags: tags ? JSON.parse(tags) : null, mailServerId: null },
    hasWaited: false,
  }
  return { row, version, content }
}
