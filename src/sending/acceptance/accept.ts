import type { EmailDraft, TemplateCache, TemplateRunner } from '../../content/content.ts'
import type { Senders } from '../../delivery/delivery.ts'
import { createBatcher, type DbBatcherOptions, type ItemBatcher } from '../../platform/db/cluster/batches.ts'
import { transactionTime } from '../../platform/db/cluster/shards.ts'
import { type Db, isDataFault, type Tx } from '../../platform/db/db.ts'
import { retrying } from '../../platform/db/retrying.ts'
import type { Settled } from '../../platform/runtime/batcher.ts'
import { Pacer } from '../../platform/runtime/pacer.ts'
import type { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import { Refusal } from '../../platform/values/errors.ts'
import type { ContactId, FlowId, FlowVersionId, OrganizationId } from '../../platform/values/ids.ts'
import { type ContentToWrite, writeContents } from '../attachments/contents.ts'
import { areKeysUsed, findFlowStates, flowsOf, lockRecipients, type NewMessage } from './accept.sql.ts'
import { acceptWeights, weightOf } from './accept-weights.ts'
import { type Accepted, checkFlow, draftMessage, type SendRequest, valuesFor } from './draft.ts'
import type { Allowance, NewOrganizationQuota } from './new-organization-quota.ts'
import { replay, requestKey, tooBusy } from './replay.ts'
import { type DraftToWrite, writeMessages } from './write-messages.ts'

const batchMax = 500
const waitingPerOrganization = 2_000
const waitingMax = 5_000
/** How many consecutive rounds may accept nothing because flows, contacts or keys changed between lookup and write. */
const roundsWithoutProgressMax = 8

/** How often an email is drafted in a task process because its flow was changed in the meantime. */
const draftsMax = 5

/** The result of a request whose template is too slow for the main thread. It is added again with the finished draft. */
type SlowDraft = { versionId: FlowVersionId; drafting: Promise<EmailDraft> }
type Result = Settled<Accepted | SlowDraft>

type Pending = { request: SendRequest; index: number }
type PendingDraft = Pending & DraftToWrite & { accepted: Accepted }
/** Requests that were accepted, rejected or are being drafted, by index. */
type Settlements = Map<number, Result>
/** `left`: requests that need another round. */
type Round = { settled: Settlements; left: Pending[] }

type SenderCheck = Pick<Senders, 'loadForCheck' | 'checkLoaded'>

export type AcceptorParts = {
  db: Db
  stages: StageRegistry
  templates: TemplateCache
  runner: TemplateRunner
  senders: SenderCheck
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
  readonly #senders: SenderCheck
  readonly #quota: NewOrganizationQuota | undefined
  readonly #batcher: ItemBatcher<SendRequest, Accepted | SlowDraft>

  constructor({ db, stages, templates, runner, senders, quota }: AcceptorParts) {
    this.#db = db
    this.#templates = templates
    this.#runner = runner
    this.#senders = senders
    this.#quota = quota
    const options: DbBatcherOptions<SendRequest, Accepted | SlowDraft> = {
      name: 'accept messages',
      organizationOf: ({ organizationId }) => organizationId,
      run: (requests) => this.#acceptAll(requests),
      itemsMax: batchMax,
      waitingPerOrganization,
      waitingMax,
      weights: { weightOf: ({ content }) => weightOf(1, content), ...acceptWeights },
      // While one batch is being committed, this process prepares the next.
      concurrency: 2,
      // Data that PostgreSQL rejects, or a file that is gone, must not fail the other requests of its batch.
      splitOn: (error) => isDataFault(error) || error instanceof Refusal,
    }
    this.#batcher = createBatcher(db, stages, options)
  }

  /** Whether a request with this key was accepted, so that it is only answered again. */
  async isRepeated(organizationId: OrganizationId, key: string | null): Promise<boolean> {
    return key !== null && areKeysUsed(this.#db, organizationId, [key])
  }

  async accept(request: SendRequest): Promise<Accepted> {
    let drafted: SendRequest['drafted']
    for (let drafts = 0; drafts <= draftsMax; drafts++) {
      const result = await this.#batcher.add(drafted ? { ...request, drafted } : request)
      if ('messageId' in result) return result
      drafted = { versionId: result.versionId, draft: await result.drafting }
    }
    throw tooBusy()
  }

  /**
   * Accepts all of the requests in one transaction, or none. Throws `Refusal` if one of them is rejected. Requests with the
   * same key are not possible.
   */
  async acceptTogether(requests: readonly SendRequest[]): Promise<Accepted[]> {
    const pending = requests.map((request, index): Pending => ({ request, index }))
    for (let round = 0; round < roundsWithoutProgressMax; round++) {
      const { settled, isCommitted } = await this.#tryTogether(pending)
      const accepted: Accepted[] = []
      for (const [index, result] of settled) {
        if (!result.ok) throw result.error
        const { value } = result
        if ('messageId' in value) accepted[index] = value
        else
          pending[index]!.request = {
            ...pending[index]!.request,
            drafted: { versionId: value.versionId, draft: await value.drafting },
          }
      }
      if (isCommitted) return accepted
    }
    throw tooBusy()
  }

  /** Rolls back if not all requests are accepted. */
  #tryTogether(pending: Pending[]): Promise<{ settled: Settlements; isCommitted: boolean }> {
    return this.#inTransaction(pending, async (tx, allowance) => {
      const { settled } = await this.#acceptIn(tx, pending, allowance)
      const isComplete = pending.every(({ index }) => isAccepted(settled.get(index)))
      if (!isComplete) throw new Incomplete(settled)
      return { settled, isCommitted: true }
    }).catch((error: unknown) => {
      if (!(error instanceof Incomplete)) throw error
      return { settled: error.settled, isCommitted: false }
    })
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
    const { settled, left } = await this.#inTransaction(pending, (tx, allowance) =>
      this.#acceptIn(tx, pending, allowance),
    )
    for (const [index, result] of settled) results[index] = result
    return left
  }

  #inTransaction<Done>(pending: Pending[], work: (tx: Tx, allowance: Allowance | undefined) => Promise<Done>) {
    return retrying(roundsWithoutProgressMax, async () => {
      // Before the transaction, because it uses another connection.
      const allowance = await this.#quota?.allowanceFor(pending.map(({ request }) => request.organizationId))
      return this.#db.begin((tx) => work(tx, allowance), { rows: pending.length }).finally(() => allowance?.release())
    })
  }

  /** Looks up what the requests refer to, drafts their emails, and writes them. */
  async #acceptIn(tx: Tx, pending: Pending[], allowance: Allowance | undefined): Promise<Round> {
    // Comes first: a repeated request gets the first response, even if the flow or the contact has changed since.
    const settled: Settlements = await replay(tx, pending)
    const { drafts, left } = await this.#draft(
      tx,
      pending.filter(({ index }) => !settled.has(index)),
      { settled, allowance },
    )
    if (drafts.length === 0) return { settled, left }
    const written = await writeMessages(tx, drafts)
    const contents = drafts.flatMap(({ request, message }) =>
      written.has(message.id) ? contentOf(request, message) : [],
    )
    if (contents.length > 0) await writeContents(tx, contents)
    for (const draft of drafts)
      if (written.has(draft.message.id)) settled.set(draft.index, { ok: true, value: draft.accepted })
      else left.push(draft)
    return { settled, left }
  }

  /** Drafts the emails. Rejected requests are added to `settled`. */
  async #draft(
    tx: Tx,
    pending: Pending[],
    { settled, allowance }: { settled: Settlements; allowance: Allowance | undefined },
  ): Promise<{ drafts: PendingDraft[]; left: Pending[] }> {
    if (pending.length === 0) return { drafts: [], left: [] }
    const requests = pending.map(({ request }) => request)
    const [states, recipients] = await Promise.all([
      findFlowStates(tx, flowsOf(requests)),
      lockRecipients(tx, requests),
    ])
    const queuedAt = (await transactionTime(tx)) ?? states[0]?.now ?? new Date()
    const flows = new Map(states.map((state) => [flowKey(state.organizationId, state.id), state]))
    const versions = await this.#templates.getAll(
      states.flatMap(({ organizationId, versionId: id }) => (id ? [{ organizationId, id }] : [])),
      tx,
    )
    await this.#senders.loadForCheck(
      states.flatMap(({ organizationId, versionId }) =>
        versionId ? [{ organizationId, address: versions.get(versionId)?.fromEmail ?? null }] : [],
      ),
      tx,
    )
    const newContacts = new Map<string, ContactId>()

    const drafts: PendingDraft[] = []
    /** Further requests with the same idempotency key get the response of the first once it is written. */
    const left: Pending[] = []
    const drafted = new Set<string>()
    const pacer = new Pacer()
    for (const [position, each] of pending.entries()) {
      if (pacer.isDue) await pacer.turn()
      const { request, index } = each
      const key = requestKey(request)
      if (key !== undefined && drafted.has(key)) {
        left.push(each)
        continue
      }
      try {
        const flow = checkFlow(request, flows.get(flowKey(request.organizationId, request.flowId)))
        const version = versions.get(flow.versionId)!
        this.#senders.checkLoaded({ organizationId: request.organizationId, address: version.fromEmail })
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
        const toSend = { version, flowKind: flow.kind, person }
        drafts.push({ request, index, message, accepted: { ...accepted, queuedAt }, toSend })
        if (key !== undefined) drafted.add(key)
      } catch (error) {
        settled.set(index, refused(error))
      }
    }
    return { drafts, left }
  }
}

/** Rolls back the transaction of requests that are accepted together. */
class Incomplete extends Error {
  readonly settled: Settlements

  constructor(settled: Settlements) {
    super('Not all requests were accepted.')
    this.settled = settled
  }
}

const isAccepted = (result: Result | undefined) => result?.ok === true && 'messageId' in result.value

const contentOf = ({ content }: SendRequest, { organizationId, contentId, sendAt }: NewMessage): ContentToWrite[] =>
  content && contentId ? [{ organizationId, id: contentId, content, sendAt }] : []

const refused = (error: unknown): Result => ({ ok: false, error })

/** Keyed by organization as well, so a caller cannot reach another tenant's flow. */
const flowKey = (organizationId: OrganizationId, flowId: FlowId) => `${organizationId} ${flowId}`
