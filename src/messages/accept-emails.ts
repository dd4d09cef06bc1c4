import { hash } from 'node:crypto'
import { ineligibleReason } from '../contacts/eligibility.ts'
import { createBatcher, type ItemBatcher } from '../db/cluster/batches.ts'
import { type Db, isDataFault, type Tx } from '../db/db.ts'
import { retrying } from '../db/retrying.ts'
import type { Senders } from '../domains/senders.ts'
import type { Tag } from '../email-contents/content.ts'
import { type ContentToWrite, contentToHandOver, type NewContent, writeContents } from '../email-contents/contents.ts'
import type { BuiltInFlow, BuiltInFlows } from '../flows/built-in-flows.ts'
import type { FlowKind } from '../flows/flows.ts'
import type { ReadyVersion, TemplateCache } from '../flows/template-cache.ts'
import type { BatcherOptions, Settled } from '../runtime/batcher.ts'
import type { EmailAddress } from '../values/email.ts'
import { Refusal } from '../values/errors.ts'
import { groupBy } from '../values/group-by.ts'
import {
  type ContactId,
  type EmailId,
  type MessageId,
  newId,
  type OrganizationId,
  parseId,
  toText,
} from '../values/ids.ts'
import {
  findUsedEmailKeys,
  findUsedKeys,
  insertKeys,
  lockRecipients,
  type NewMessage,
  type Recipient,
  releaseKeys,
} from './accept.sql.ts'
import { keyReused, tooBusy } from './accept.ts'
import { laneOf } from './draft.ts'
import type { Allowance, NewOrganizationQuota } from './new-organization-quota.ts'
import { createContacts, type DraftToWrite, insertToSend } from './write-messages.ts'

/** An email without a flow. Each recipient, whether in To, Cc or Bcc, gets a message. */
export type EmailRequest = {
  kind: FlowKind
  /** Each address once. */
  recipients: readonly EmailAddress[]
  /** A key for each recipient. Nothing is sent to one whose key was used within 24 hours: its message is returned again. */
  recipientKeys?: readonly string[]
  subject: string
  tags: readonly Tag[]
  /** In the future, or null. */
  sendAt: Date | null
  content: NewContent
}

/** Emails that were submitted together. */
export type EmailSubmission = {
  organizationId: OrganizationId
  /** A rejected one (`Refusal`) has its place in the results. */
  emails: readonly (EmailRequest | Refusal)[]
  /** If one is rejected, none is accepted. */
  isAtomic: boolean
  /** Covers all messages. Keys of users have visible characters only. */
  idempotencyKey: string | null
  requestHash: string | null
}

export type AcceptedMessage = {
  id: MessageId
  email: string
  status: 'queued' | 'scheduled' | 'suppressed'
  reason: string | null
}
export type EmailResult = { ok: true; id: EmailId; messages: AcceptedMessage[] } | { ok: false; error: Refusal }
export type AcceptedEmails = { results: EmailResult[]; replayed: boolean }

export type EmailAcceptorParts = {
  db: Db
  flows: BuiltInFlows
  templates: TemplateCache
  senders: Pick<Senders, 'loadForCheck' | 'checkLoaded'>
  quota?: NewOrganizationQuota | undefined
}

const itemsMax = 100
const waitingMax = 1_000
/** Rounds in which a contact or key was written by another request between look-up and write. */
const roundsMax = 8

type Item = EmailSubmission & { flows: ReadonlyMap<FlowKind, BuiltInFlow> }
type Result = Settled<AcceptedEmails>
type Pending = { item: Item; index: number }
/** The drafts and the content of an email. */
type DraftedEmail = { id: EmailId; drafts: DraftToWrite[]; messages: AcceptedMessage[]; content: ContentToWrite }
type DraftedItem = Pending & { emails: DraftedEmail[]; results: EmailResult[] }

/**
 * Accepts emails that do not come from a flow. All messages of a submission, its content, jobs and idempotency key are
 * committed together; concurrent submissions share a commit.
 */
export class EmailAcceptor {
  readonly #parts: EmailAcceptorParts
  readonly #batcher: ItemBatcher<Item, AcceptedEmails>

  constructor(parts: EmailAcceptorParts) {
    this.#parts = parts
    const options: BatcherOptions<Item, AcceptedEmails> = {
      name: 'accept emails',
      run: (items) => this.#acceptAll(items),
      itemsMax,
      waitingMax,
      splitOn: (error) => isDataFault(error) || error instanceof Refusal,
    }
    this.#batcher = createBatcher(parts.db, options, ({ organizationId }) => organizationId)
  }

  /** Throws `Refusal` if nothing could be accepted because of the submission as a whole. */
  async accept(submission: EmailSubmission): Promise<AcceptedEmails> {
    const kinds = new Set(submission.emails.flatMap((email) => (email instanceof Refusal ? [] : [email.kind])))
    const flows = new Map<FlowKind, BuiltInFlow>()
    for (const kind of kinds) flows.set(kind, await this.#parts.flows.get(submission.organizationId, kind))
    return this.#batcher.add({ ...submission, flows })
  }

  async #acceptAll(items: Item[]): Promise<Result[]> {
    const { db, quota } = this.#parts
    const results: Result[] = []
    let pending = items.map((item, index): Pending => ({ item, index }))
    for (let round = 0; pending.length > 0 && round < roundsMax; round++) {
      const current = pending
      const left = await retrying(roundsMax, async () => {
        const allowance = await quota?.allowanceFor(current.map(({ item }) => item.organizationId))
        return db
          .begin((tx) => this.#acceptIn(tx, current, results, allowance), { rows: rowsOf(current) })
          .finally(() => allowance?.release())
      })
      pending = left
    }
    for (const { index } of pending) results[index] = { ok: false, error: tooBusy() }
    return results
  }

  /** Writes results into `results`, which count once the transaction is committed. Returns what needs another round. */
  async #acceptIn(tx: Tx, pending: Pending[], results: Result[], allowance: Allowance | undefined): Promise<Pending[]> {
    const fresh = await replay(tx, pending, results)
    if (fresh.length === 0) return []
    const earlier = await findEarlier(tx, fresh)
    const addresses = fresh.flatMap(({ item }) => item.emails.flatMap((email) => addressesOf(item, email)))
    const [people, versions] = await Promise.all([lockRecipients(tx, addresses), this.#versionsOf(tx, fresh)])
    const personOf = new Map(addresses.map((address, position) => [personKey(address), people[position]!]))
    const senders = fresh.flatMap(({ item }) =>
      item.emails.flatMap((email) => (email instanceof Refusal ? [] : [senderOf(item, email)])),
    )
    await this.#parts.senders.loadForCheck(senders, tx)
    const newContacts = new Map<string, ContactId>()
    const drafted: DraftedItem[] = []
    for (const each of fresh) {
      try {
        drafted.push(this.#draft(each, { personOf, newContacts, versions, allowance, earlier }))
      } catch (error) {
        results[each.index] = { ok: false, error }
      }
    }
    const written = await write(tx, drafted)
    for (const { index, results: own } of written)
      results[index] = { ok: true, value: { results: own, replayed: false } }
    return drafted.filter((each) => !written.includes(each))
  }

  #versionsOf(tx: Tx, pending: readonly Pending[]) {
    const keys = pending.flatMap(({ item }) =>
      [...item.flows.values()].map(({ organizationId, versionId: id }) => ({ organizationId, id })),
    )
    return this.#parts.templates.getAll(keys, tx)
  }

  /** Throws `Refusal` if the submission is rejected as a whole. */
  #draft({ item, index }: Pending, lookUps: LookUps): DraftedItem {
    const emails: DraftedEmail[] = []
    const results = item.emails.map((request): EmailResult => {
      try {
        if (request instanceof Refusal) throw request
        this.#parts.senders.checkLoaded(senderOf(item, request))
        const email = draftEmail(item, request, lookUps)
        emails.push(email)
        return { ok: true, id: email.id, messages: email.messages }
      } catch (error) {
        if (item.isAtomic || !(error instanceof Refusal)) throw error
        return { ok: false, error }
      }
    })
    const [first] = emails
    if (first && item.idempotencyKey !== null)
      Object.assign(first.drafts[0]!.message, {
        idempotencyKey: item.idempotencyKey,
        requestHash: item.requestHash,
        answer: answerText(results),
      })
    return { item, index, emails, results }
  }
}

type LookUps = {
  personOf: ReadonlyMap<string, Recipient>
  newContacts: Map<string, ContactId>
  versions: ReadonlyMap<string, ReadyVersion>
  allowance: Allowance | undefined
  /** Messages by the key of their recipient. */
  earlier: ReadonlyMap<string, AcceptedMessage>
}

function draftEmail(item: Item, request: EmailRequest, lookUps: LookUps): DraftedEmail {
  const { organizationId } = item
  const flow = item.flows.get(request.kind)!
  const id = newId('eml')
  const { content, sendAt } = request
  const toSend = {
    version: lookUps.versions.get(flow.versionId)!,
    flowKind: flow.kind,
    content: contentToHandOver(id, organizationId, content),
  }
  const tags = request.tags.length > 0 ? JSON.stringify(request.tags) : null
  const messages: AcceptedMessage[] = []
  const drafts = request.recipients.flatMap((address, position): DraftToWrite[] => {
    const recipientKey = request.recipientKeys?.[position] ?? null
    const known = lookUps.earlier.get(`${organizationId} ${recipientKey}`)
    if (known) {
      messages.push(known)
      return []
    }
    const key = personKey({ organizationId, emailKey: address.emailKey })
    const person = lookUps.personOf.get(key)!
    const contactId = person.contactId ?? lookUps.newContacts.get(key) ?? newId('con')
    lookUps.newContacts.set(key, contactId)
    lookUps.allowance?.use(organizationId)
    const reason = ineligibleReason(flow, person)
    const status = reason === null ? 'queued' : 'suppressed'
    const messageId = newId('msg')
    const message: NewMessage = {
      organizationId,
      id: messageId,
      flowId: flow.id,
      versionId: flow.versionId,
      isTest: false,
      contactId,
      newContact: person.contactId
        ? null
        : {
            emailKey: address.emailKey,
            subscription: person.subscription === 'unsubscribed' ? 'unsubscribed' : 'not_subscribed',
          },
      // As it was given, which the other recipients see.
      email: address.email,
      subject: request.subject,
      context: '{}',
      recipient: null,
      status,
      reason,
      lane: laneOf(messageId),
      sendAt,
      idempotencyKey: recipientKey,
      requestHash: recipientKey === null ? null : hashOfKey(recipientKey),
      answer: recipientKey === null ? null : JSON.stringify({ contact_created: false, status, reason, warnings: [] }),
      contentId: id,
      tags,
    }
    messages.push({
      id: messageId,
      email: address.email,
      status: sendAt && status === 'queued' ? 'scheduled' : status,
      reason,
    })
    return [{ message, toSend: { ...toSend, person } }]
  })
  return { id, drafts, messages, content: { organizationId, id, content, sendAt } }
}

/** The key alone identifies the request. */
const hashOfKey = (key: string) => hash('sha256', key)

/** Returns the messages of recipients whose key was used before. */
async function findEarlier(tx: Tx, pending: readonly Pending[]): Promise<Map<string, AcceptedMessage>> {
  const keys = pending.flatMap(({ item: { organizationId, emails } }) =>
    emails.flatMap((email) =>
      email instanceof Refusal ? [] : (email.recipientKeys ?? []).map((key) => ({ organizationId, key })),
    ),
  )
  const used = keys.length > 0 ? await findUsedKeys(tx, keys) : []
  return new Map(
    used.map(({ organizationId, key, messageId: id, email, answer: { status, reason } }) => [
      `${organizationId} ${key}`,
      { id, email, status, reason },
    ]),
  )
}

/**
 * Writes what was drafted, and returns the submissions that were written: all but those of which a contact was created or
 * a key was used by another request since the look-up. Of those, nothing is written except possibly contacts.
 */
async function write(tx: Tx, drafted: readonly DraftedItem[]): Promise<DraftedItem[]> {
  const messagesOf = ({ emails }: DraftedItem) => emails.flatMap(({ drafts }) => drafts.map(({ message }) => message))
  const created = await createContacts(tx, drafted.flatMap(messagesOf))
  const withContacts = drafted.filter((each) =>
    messagesOf(each).every(({ newContact, contactId }) => !newContact || created.has(contactId)),
  )
  const keyed = withContacts.flatMap((each) => messagesOf(each).filter(({ idempotencyKey }) => idempotencyKey !== null))
  const reserved = await insertKeys(tx, distinctKeys(keyed))
  const written = withContacts.filter((each) =>
    messagesOf(each).every(({ id, idempotencyKey }) => idempotencyKey === null || reserved.has(id)),
  )
  // Otherwise their other keys would belong to messages that do not exist.
  const reservedInVain = withContacts
    .filter((each) => !written.includes(each))
    .flatMap((each) => messagesOf(each).filter(({ id }) => reserved.has(id)))
  for (const [organizationId, messages] of groupBy(reservedInVain, (message) => message.organizationId))
    await releaseKeys(tx, organizationId, messages)
  // Of an email whose recipients all have messages already, nothing is stored.
  const emails = written.flatMap((each) => each.emails.filter(({ drafts }) => drafts.length > 0))
  insertToSend(
    tx,
    emails.flatMap(({ drafts }) => drafts),
  )
  await writeContents(
    tx,
    emails.map(({ content }) => content),
  )
  return written
}

/** Of requests with the same key in a batch, the first one is written. The others get its answer in the next round. */
const distinctKeys = (messages: readonly NewMessage[]): NewMessage[] => [
  ...new Map(
    messages.toReversed().map((message) => [`${message.organizationId} ${message.idempotencyKey}`, message]),
  ).values(),
]

/** Settles submissions whose key was used before, and returns the others. */
async function replay(tx: Tx, pending: Pending[], results: Result[]): Promise<Pending[]> {
  const keyed = pending.flatMap(({ item: { organizationId, idempotencyKey: key } }) =>
    key === null ? [] : [{ organizationId, key }],
  )
  if (keyed.length === 0) return pending
  const used = new Map(
    (await findUsedEmailKeys(tx, keyed)).map((row) => [`${row.organizationId} ${row.key}`, row] as const),
  )
  return pending.filter(({ item, index }) => {
    const found = used.get(`${item.organizationId} ${item.idempotencyKey}`)
    if (!found) return true
    results[index] =
      found.requestHash === item.requestHash
        ? { ok: true, value: { results: resultsOf(found.answer as StoredAnswer), replayed: true } }
        : { ok: false, error: keyReused() }
    return false
  })
}

/** The results of a submission as they are stored with its idempotency key. */
type StoredAnswer = {
  emails: (
    | { id: string; messages: (Omit<AcceptedMessage, 'id'> & { id: string })[] }
    | { error: { type: Refusal['type']; message: string; fields: Refusal['fields'] } }
  )[]
}

function answerText(results: readonly EmailResult[]): string {
  const stored: StoredAnswer = {
    emails: results.map((result) =>
      result.ok
        ? {
            id: toText('eml', result.id),
            messages: result.messages.map((message) => ({ ...message, id: toText('msg', message.id) })),
          }
        : { error: { type: result.error.type, message: result.error.message, fields: result.error.fields } },
    ),
  }
  return JSON.stringify(stored)
}

const resultsOf = ({ emails }: StoredAnswer): EmailResult[] =>
  emails.map((email) =>
    'error' in email
      ? { ok: false, error: new Refusal(email.error.type, email.error.message, { fields: email.error.fields }) }
      : {
          ok: true,
          id: parseId('eml', email.id)!,
          messages: email.messages.map((message) => ({ ...message, id: parseId('msg', message.id)! })),
        },
  )

const personKey = ({ organizationId, emailKey }: { organizationId: OrganizationId; emailKey: string }) =>
  `${organizationId} ${emailKey}`

const addressesOf = ({ organizationId }: Item, email: EmailRequest | Refusal) =>
  email instanceof Refusal ? [] : email.recipients.map(({ emailKey }) => ({ organizationId, emailKey }))

const senderOf = ({ organizationId }: Item, { content }: EmailRequest) => ({
  organizationId,
  address: content.details.from?.email ?? null,
  path: 'from' as const,
})

const rowsOf = (pending: readonly Pending[]) =>
  pending.reduce(
    (sum, { item }) =>
      sum + item.emails.reduce((own, email) => own + (email instanceof Refusal ? 0 : email.recipients.length), 0),
    0,
  )
