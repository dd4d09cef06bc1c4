import type { BuiltInFlow, BuiltInFlows, TemplateCache } from '../../content/content.ts'
import type { Senders } from '../../delivery/delivery.ts'
import { createBatcher, type DbBatcherOptions, type ItemBatcher } from '../../platform/db/cluster/batches.ts'
import { type Db, isDataFault, type Tx } from '../../platform/db/db.ts'
import { retrying } from '../../platform/db/retrying.ts'
import type { Settled } from '../../platform/runtime/batcher.ts'
import type { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import { Refusal } from '../../platform/values/errors.ts'
import type { FlowKind } from '../../platform/values/flow-kind.ts'
import { groupBy } from '../../platform/values/group-by.ts'
import type { ContactId, OrganizationId } from '../../platform/values/ids.ts'
import { writeContents } from '../attachments/contents.ts'
import {
  areKeysUsed,
  findUsedEmailKeys,
  findUsedKeys,
  insertKeys,
  lockRecipients,
  type NewMessage,
  releaseKeys,
} from './accept.sql.ts'
import { acceptWeights, weightOf } from './accept-weights.ts'
import { draftEmail, type LookUps, personKey } from './draft-email.ts'
import type {
  AcceptedEmails,
  DraftedEmail,
  DraftedItem,
  EmailRequest,
  EmailResult,
  EmailSubmission,
  Item,
  Pending,
} from './email-request.ts'
import type { Allowance, NewOrganizationQuota } from './new-organization-quota.ts'
import { keyReused, tooBusy } from './replay.ts'
import { answerText, resultsOf, type StoredAnswer } from './stored-answer.ts'
import { createContacts, insertToSend } from './write-messages.ts'

export type EmailAcceptorParts = {
  db: Db
  stages: StageRegistry
  flows: BuiltInFlows
  templates: TemplateCache
  senders: Pick<Senders, 'loadForCheck' | 'checkLoaded'>
  quota?: NewOrganizationQuota | undefined
}

type Result = Settled<AcceptedEmails>

const itemsMax = 100
const waitingPerOrganization = 500
const waitingMax = 2_000
/** Rounds in which a contact or key was written by another request between look-up and write. */
const roundsMax = 8

/**
 * Accepts emails that do not come from a flow. All messages of a submission, its content, jobs and idempotency key are
 * committed together; concurrent submissions share a commit.
 */
export class EmailAcceptor {
  readonly #parts: EmailAcceptorParts
  readonly #batcher: ItemBatcher<Item, AcceptedEmails>

  constructor(parts: EmailAcceptorParts) {
    this.#parts = parts
    const options: DbBatcherOptions<Item, AcceptedEmails> = {
      name: 'accept emails',
      organizationOf: ({ organizationId }) => organizationId,
      run: (items) => this.#acceptAll(items),
      itemsMax,
      waitingPerOrganization,
      waitingMax,
      weights: { weightOf: weightOfSubmission, ...acceptWeights },
      // While one batch is being committed, this process prepares the next.
      concurrency: 2,
      splitOn: (error) => isDataFault(error) || error instanceof Refusal,
    }
    this.#batcher = createBatcher(parts.db, parts.stages, options)
  }

  /** Whether submissions with these keys were accepted, so that they are only answered again. */
  async areRepeated(organizationId: OrganizationId, keys: readonly string[]): Promise<boolean> {
    return keys.length > 0 && areKeysUsed(this.#parts.db, organizationId, keys)
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
    for (const each of written) results[each.index] = { ok: true, value: { results: each.results, replayed: false } }
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

/** Returns the messages of recipients whose key was used before. */
async function findEarlier(tx: Tx, pending: readonly Pending[]): Promise<LookUps['earlier']> {
  const keys = pending.flatMap(({ item: { organizationId, emails } }) =>
    emails.flatMap((email) =>
      email instanceof Refusal ? [] : (email.recipientKeys ?? []).map((key) => ({ organizationId, key })),
    ),
  )
  const used = keys.length > 0 ? await findUsedKeys(tx, keys) : []
  return new Map(
    used.map(({ organizationId, key, requestHash, messageId: id, email, answer: { status, reason } }) => [
      `${organizationId} ${key}`,
      { message: { id, email, status, reason }, requestHash },
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
        ? { ok: true, value: { results: resultsOf(found.answer as StoredAnswer, item.emails), replayed: true } }
        : { ok: false, error: keyReused() }
    return false
  })
}

const addressesOf = ({ organizationId }: Item, email: EmailRequest | Refusal) =>
  email instanceof Refusal ? [] : email.recipients.map(({ emailKey }) => ({ organizationId, emailKey }))

const senderOf = ({ organizationId }: Item, { content }: EmailRequest) => ({
  organizationId,
  address: content.details.from?.email ?? null,
  path: 'from' as const,
})

const weightOfSubmission = ({ emails }: Item) => {
  let weight = 0
  for (const email of emails)
    if (!(email instanceof Refusal)) weight += weightOf(email.recipients.length, email.content)
  return weight
}

const rowsOf = (pending: readonly Pending[]) =>
  pending.reduce(
    (sum, { item }) =>
      sum + item.emails.reduce((count, email) => count + (email instanceof Refusal ? 0 : email.recipients.length), 0),
    0,
  )
