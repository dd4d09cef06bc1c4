import { createBatcher, type ItemBatcher } from '../db/cluster/batches.ts'
import { transactionTime } from '../db/cluster/shards.ts'
import { type Db, isDataFault, type Tx } from '../db/db.ts'
import { retrying } from '../db/retrying.ts'
import { recordContactChanges } from '../events/contact-changes.ts'
import type { TemplateCache } from '../flows/template-cache.ts'
import type { TemplateRunner } from '../flows/template-runner.ts'
import type { MailDraft } from '../flows/templates.task.ts'
import type { SenderPolicy } from '../mail/sender-policy.ts'
import { enqueue } from '../queue/queue.ts'
import type { BatcherOptions, Settled } from '../runtime/batcher.ts'
import { Pacer } from '../runtime/pacer.ts'
import type { UrgentWork } from '../runtime/urgent-work.ts'
import { Refusal } from '../values/errors.ts'
import { groupBy } from '../values/group-by.ts'
import type { ContactId, FlowId, FlowVersionId, MessageId, OrganizationId } from '../values/ids.ts'
import { findChangeSubscriptions } from '../webhooks/fan-out.ts'
import {
  findFlowStates,
  findRecipients,
  findUsedKeys,
  flowsOf,
  insertContacts,
  insertKeys,
  insertMessages,
  lockRecipients,
  type NewContact,
  type NewMessage,
  type UsedKey,
} from './accept.sql.ts'
import { type Accepted, checkFlow, type Draft, draftMessage, type SendRequest, valuesFor } from './draft.ts'
import type { Allowance, NewOrganizationQuota } from './new-organization-quota.ts'

const batchMax = 500
const waitingMax = 5_000
/** How many consecutive rounds may accept nothing because flows, contacts or keys changed between lookup and write. */
const roundsWithoutProgressMax = 8

/** How often an email is drafted in a task process because its flow was changed in the meantime. */
const draftsMax = 5

/** The result of a request whose template is too slow for the main thread. It is added again with the finished draft. */
type SlowDraft = { versionId: FlowVersionId; drafting: Promise<MailDraft> }
type Result = Settled<Accepted | SlowDraft>

type Pending = { request: SendRequest; index: number }
type PendingDraft = Pending & Draft
type Drafted = {
  drafts: PendingDraft[]
  /** Requests that were rejected or are being drafted, by index. */
  settled: Map<number, Result>
  /** Further requests with the same idempotency key: they get the response of the first once it is written. */
  duplicates: Pending[]
  allowance: Allowance | undefined
}

export type AcceptorParts = {
  db: Db
  templates: TemplateCache
  runner: TemplateRunner
  senders: SenderPolicy
  urgentWork: UrgentWork
  /** Undefined if new organizations have no daily limit. */
  quota?: NewOrganizationQuota | undefined
}

/**
 * Accepts emails for sending. Concurrent requests share a commit, but fail independently. Message, job, contact and
 * idempotency key are written in one transaction; when it is committed, the email is accepted.
 */
export class Acceptor {
  readonly #db: Db
  readonly #templates: TemplateCache
  readonly #runner: TemplateRunner
  readonly #senders: SenderPolicy
  readonly #urgentWork: UrgentWork
  readonly #quota: NewOrganizationQuota | undefined
  readonly #batcher: ItemBatcher<SendRequest, Accepted | SlowDraft>

  constructor({ db, templates, runner, senders, urgentWork, quota }: AcceptorParts) {
    this.#db = db
    this.#templates = templates
    this.#runner = runner
    this.#senders = senders
    this.#urgentWork = urgentWork
    this.#quota = quota
    const options: BatcherOptions<SendRequest, Accepted | SlowDraft> = {
      name: 'accept messages',
      run: (requests) => this.#acceptAll(requests),
      itemsMax: batchMax,
      waitingMax,
      // While one batch is being committed, this process prepares the next.
      concurrency: 2,
      // Data that PostgreSQL rejects must not fail the other requests of its batch.
      splitOn: isDataFault,
    }
    this.#batcher = createBatcher(db, options, ({ organizationId }) => organizationId)
  }

  accept(request: SendRequest): Promise<Accepted> {
    return this.#urgentWork.run(() => this.#accept(request))
  }

  async #accept(request: SendRequest): Promise<Accepted> {
    let drafted: SendRequest['drafted']
    for (let drafts = 0; drafts <= draftsMax; drafts++) {
      const result = await this.#batcher.add(drafted ? { ...request, drafted } : request)
      if ('messageId' in result) return result
      drafted = { versionId: result.versionId, draft: await result.drafting }
    }
    throw tooBusy()
  }

  async #acceptAll(requests: SendRequest[]): Promise<Result[]> {
    const results: Result[] = []
    let pending = requests.map((request, index): Pending => ({ request, index }))
    let roundsWithoutProgress = 0
    while (pending.length > 0 && roundsWithoutProgress < roundsWithoutProgressMax) {
      const left = await this.#acceptRound(pending, results)
      roundsWithoutProgress = left.length < pending.length ? 0 : roundsWithoutProgress + 1
      pending = left
    }
    for (const { index } of pending) results[index] = refused(tooBusy())
    return results
  }

  /** Settles as many requests as possible and returns those that need another round. */
  async #acceptRound(pending: Pending[], results: Result[]): Promise<Pending[]> {
    // Comes first: a repeated request gets the first response, even if the flow or the contact has changed since.
    const replayed = await this.#replay(pending, results)
    const { drafts, settled, duplicates, allowance } = await this.#draft(pending.filter((each) => !replayed.has(each)))
    for (const [index, result] of settled) results[index] = result
    const left: Pending[] = duplicates
    if (drafts.length > 0) {
      const { ids, queuedAt } = await this.#write(drafts).finally(() => allowance?.release())
      for (const draft of drafts)
        if (!ids || ids.has(draft.message.id))
          results[draft.index] = { ok: true, value: { queuedAt, ...draft.accepted } }
        else left.push(draft)
    }
    return left
  }

  async #draft(pending: Pending[]): Promise<Drafted> {
    if (pending.length === 0) return { drafts: [], settled: new Map(), duplicates: [], allowance: undefined }
    const requests = pending.map(({ request }) => request)
    const [[states, recipients], allowance] = await Promise.all([
      // In one transaction only to use one connection.
      this.#db.begin((tx) => Promise.all([findFlowStates(tx, flowsOf(requests)), findRecipients(tx, requests)]), {
        rows: requests.length,
      }),
      this.#quota?.allowanceFor(requests.map(({ organizationId }) => organizationId)),
    ])
    const flows = new Map(states.map((state) => [flowKey(state.organizationId, state.id), state]))
    const versions = await this.#templates.getAll(
      states.flatMap(({ organizationId, versionId: id }) => (id ? [{ organizationId, id }] : [])),
    )
    const newContacts = new Map<string, ContactId>()

    const drafts: PendingDraft[] = []
    const settled = new Map<number, Result>()
    const duplicates: Pending[] = []
    const drafted = new Set<string>()
    const pacer = new Pacer()
    for (const [position, each] of pending.entries()) {
      if (pacer.isDue) await pacer.turn()
      const { request, index } = each
      const key = requestKey(request)
      if (key !== undefined && drafted.has(key)) {
        duplicates.push(each)
        continue
      }
      try {
        const flow = checkFlow(request, flows.get(flowKey(request.organizationId, request.flowId)))
        const version = versions.get(flow.versionId)!
        this.#senders.check(version.fromEmail)
        const person = recipients[position]!
        const draft =
          request.drafted?.versionId === version.id
            ? request.drafted.draft
            : this.#runner.draft(version, valuesFor(request, person))
        if (draft instanceof Promise) {
          // The request awaits it after this batch.
          draft.catch(() => {})
          settled.set(index, { ok: true, value: { versionId: version.id, drafting: draft } })
          continue
        }
        const { message, accepted } = draftMessage(request, flow, draft, person, newContacts)
        allowance?.use(request.organizationId)
        drafts.push({ request, index, message, accepted })
        if (key !== undefined) drafted.add(key)
      } catch (error) {
        settled.set(index, refused(error))
      }
    }
    return { drafts, settled, duplicates, allowance }
  }

  #write(drafts: PendingDraft[]): Promise<Written> {
    const messages = drafts.map(({ message }) => message)
    return retrying(roundsWithoutProgressMax, () =>
      this.#db.begin((tx) => writeMessages(tx, messages), { rows: messages.length }),
    )
  }

  /** Settles requests whose idempotency key was used before, and returns them. */
  async #replay(pending: Pending[], results: Result[]): Promise<Set<Pending>> {
    const keyed = pending.filter(({ request }) => request.idempotencyKey !== null)
    if (keyed.length === 0) return new Set()
    const used = await findUsedKeys(
      this.#db,
      keyed.map(({ request }) => ({ organizationId: request.organizationId, key: request.idempotencyKey! })),
    )
    const byKey = new Map(used.map((key) => [`${key.organizationId} ${key.key}`, key]))
    const done = new Set<Pending>()
    for (const each of keyed) {
      const found = byKey.get(requestKey(each.request)!)
      if (!found) continue
      results[each.index] =
        found.requestHash === each.request.requestHash
          ? { ok: true, value: answerAgain(found, each.request) }
          : refused(keyReused())
      done.add(each)
    }
    return done
  }
}

const refused = (error: unknown): Result => ({ ok: false, error })
const tooBusy = () =>
  new Refusal('unavailable', 'The request could not be completed because of concurrent changes. Try again.', {
    retryAfterSeconds: 1,
  })
const keyReused = () =>
  new Refusal('idempotency_key_reused', 'This Idempotency-Key was used with a different request. Use a new key.')

const requestKey = ({ organizationId, idempotencyKey }: SendRequest) =>
  idempotencyKey === null ? undefined : `${organizationId} ${idempotencyKey}`

/** Keyed by organization as well, so a caller cannot reach another tenant's flow. */
const flowKey = (organizationId: OrganizationId, flowId: FlowId) => `${organizationId} ${flowId}`

function answerAgain(used: UsedKey, request: SendRequest): Accepted {
  const { contact_created: contactCreated, status, reason, warnings } = used.answer
  return {
    messageId: used.messageId,
    flowId: used.flowId,
    contactId: used.contactId,
    // Empty if the contact was erased; the request contains the address.
    contactEmail: used.email || request.email,
    contactCreated,
    status,
    reason,
    queuedAt: used.queuedAt,
    sendAt: used.sendAt,
    warnings,
    replayed: true,
  }
}

/** `ids` are the messages that were written; undefined if all were. */
type Written = { ids: ReadonlySet<MessageId> | undefined; queuedAt: Date }

/**
 * Writes the contacts, idempotency keys, messages and jobs of a batch, and returns which messages were written. A
 * message is skipped if, since the lookup, its flow was changed, its contact was created or its idempotency key was used
 * by another request, or if its contact was erased. Nothing is written for a skipped message except possibly its contact.
 */
async function writeMessages(tx: Tx, messages: readonly NewMessage[]): Promise<Written> {
  const flows = new Map((await findFlowStates(tx, flowsOf(messages))).map((flow) => [flow.id, flow]))
  const queuedAt = (await transactionTime(tx)) ?? flows.values().next().value?.now ?? new Date()
  const active = messages.filter(({ flowId, versionId }) => {
    const flow = flows.get(flowId)
    return flow?.versionId === versionId && flow.status === 'active'
  })
  // The message of a contact that was erased would not be found by the erasure.
  const existing = await lockRecipients(
    tx,
    active.filter(({ newContact }) => !newContact),
  )
  const created = await createContacts(tx, active)
  const ofContacts = active.filter(({ newContact, contactId }) => (newContact ? created : existing).has(contactId))
  const reserved = await insertKeys(
    tx,
    ofContacts.filter(({ idempotencyKey }) => idempotencyKey !== null),
  )
  const written = ofContacts.filter(({ id, idempotencyKey }) => idempotencyKey === null || reserved.has(id))
  insertWithJobs(tx, written)
  return { ids: written.length === messages.length ? undefined : new Set(written.map(({ id }) => id)), queuedAt }
}

/** Creates the new contacts of messages and records them for webhooks that subscribe to changes of contacts. */
async function createContacts(tx: Tx, messages: readonly NewMessage[]): Promise<Set<ContactId>> {
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

/** Writes messages and the jobs of those that are queued. */
export function insertWithJobs(tx: Tx, messages: readonly NewMessage[]): void {
  if (messages.length === 0) return
  insertMessages(tx, messages)
  enqueue(
    tx,
    messages.flatMap(({ organizationId, id, lane, status, sendAt }) =>
      status === 'queued' ? [{ organizationId, kind: 'message.send', lane, id, dueAt: sendAt ?? undefined }] : [],
    ),
  )
}
