import type { BuiltInFlow, BuiltInFlows, TemplateCache, TemplateRunner } from '../../content/content.ts'
import type { Senders } from '../../delivery/delivery.ts'
import { createBatcher, type DbBatcherOptions, type ItemBatcher } from '../../platform/db/cluster/batches.ts'
import { transactionTime } from '../../platform/db/cluster/shards.ts'
import { type Db, isDataFault, type Tx } from '../../platform/db/db.ts'
import { retrying } from '../../platform/db/retrying.ts'
import type { Settled } from '../../platform/runtime/batcher.ts'
import { turnsOfAll } from '../../platform/runtime/pacer.ts'
import type { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import { Refusal } from '../../platform/values/errors.ts'
import type { FlowKind } from '../../platform/values/flow-kind.ts'
import type { FlowId, OrganizationId } from '../../platform/values/ids.ts'
import type { Uploads } from '../attachments/uploads.ts'
import { areKeysUsed, findFlowStates, lockRecipients } from './accept.sql.ts'
import { type Draft, Drafter, flowKey, type Item, type LookUps, senderOf } from './draft.ts'
import type { Allowance, NewOrganizationQuota } from './new-organization-quota.ts'
import { findAnswers, resultsFor, type UsedAnswer, withAddresses } from './stored-answer.ts'
import {
  type Accepted,
  type AcceptedEmail,
  fileBytesIn,
  heavy,
  type IdempotencyKey,
  keyName,
  keysOf,
  messagesIn,
  type NewEmail,
  type NewRecipient,
  type Submission,
  weightMax,
  weightOf,
} from './submission.ts'
import { writeDrafts } from './write-drafts.ts'

const batchMax = 500
const waitingPerOrganization = 2_000
const waitingMax = 5_000
/** How many consecutive rounds may accept nothing because flows, contacts or keys changed between lookup and write. */
const roundsWithoutProgressMax = 8
/** How often an email is drafted in a task process because its flow was changed in the meantime. */
const draftsMax = 5

/** The template is too slow for the main thread. The submission is added again when these drafts are completed. */
type Slow = { slow: (() => Promise<unknown>)[] }
type Result = Settled<Accepted | Slow>
type Pending = { item: Item; index: number }
type PendingDraft = { pending: Pending; draft: Draft }

export type AcceptorParts = {
  db: Db
  stages: StageRegistry
  builtInFlows: BuiltInFlows
  templates: TemplateCache
  runner: TemplateRunner
  senders: Pick<Senders, 'loadForCheck' | 'checkLoaded'>
  uploads: Pick<Uploads, 'checkSpace'>
  /** Undefined if new organizations have no daily limit. */
  quota?: NewOrganizationQuota | undefined
}

/**
 * Accepts emails for sending. Concurrent submissions share a commit, but fail independently. All that belongs to a
 * submission (contacts, messages, jobs, contents and idempotency keys) is written in one transaction; when it is committed,
 * its emails are accepted.
 */
export class Acceptor {
  readonly #parts: AcceptorParts
  readonly #batcher: ItemBatcher<Item, Accepted | Slow>

  constructor(parts: AcceptorParts) {
    this.#parts = parts
    const options: DbBatcherOptions<Item, Accepted | Slow> = {
      name: 'accept emails',
      organizationOf: ({ submission }) => submission.organizationId,
      run: (items) => this.#acceptAll(items),
      itemsMax: batchMax,
      waitingPerOrganization,
      waitingMax,
      weights: { weightOf: ({ submission }) => weightOf(submission), weightMax, heavy },
      // While one batch is being committed, this process prepares the next.
      concurrency: 2,
      // Data that PostgreSQL rejects, or a file that is gone, must not fail the other submissions of its batch.
      splitOn: (error) => isDataFault(error) || error instanceof Refusal,
    }
    this.#batcher = createBatcher(parts.db, parts.stages, options)
  }

  /** Accepts one email for all of its recipients, or throws `Refusal`. */
  async acceptEmail(
    organizationId: OrganizationId,
    email: NewEmail,
    key: IdempotencyKey | null = null,
  ): Promise<{ email: AcceptedEmail; isReplayed: boolean }> {
    const { results, isReplayed } = await this.accept({ organizationId, emails: [email], isAtomic: true, key })
    const [result] = results
    if (!result?.ok) throw result?.error ?? new Error('An email has no result.')
    return { email: result.email, isReplayed }
  }

  /** Throws `Refusal` if the submission is rejected as a whole. */
  async accept(submission: Submission): Promise<Accepted> {
    const item: Item = { submission, keys: keysOf(submission), builtInFlows: noFlows }
    if (submission.emails.some(hasContent)) {
      await this.#checkSpace(item)
      item.builtInFlows = await this.#builtInFlowsOf(submission)
    }
    for (let drafts = 0; drafts <= draftsMax; drafts++) {
      const result = await this.#batcher.add(item)
      if ('results' in result) return result
      for (const complete of result.slow) await complete()
    }
    throw tooBusy()
  }

  /** Throws `Refusal` if the files exceed the storage of the organization, except for a repeated submission. */
  async #checkSpace({ submission, keys: used }: Item): Promise<void> {
    const bytes = fileBytesIn(submission)
    if (bytes === 0) return
    const { organizationId } = submission
    const keys = used.map(({ value }) => value)
    const isRepeated = async () => keys.length > 0 && areKeysUsed(this.#parts.db, organizationId, keys)
    await this.#parts.uploads.checkSpace(organizationId, bytes, isRepeated)
  }

  async #builtInFlowsOf({ organizationId, emails }: Submission): Promise<Item['builtInFlows']> {
    const flows = new Map<FlowKind, BuiltInFlow>()
    for (const email of emails)
      if (!(email instanceof Refusal) && email.source === 'content' && !flows.has(email.kind))
        flows.set(email.kind, await this.#parts.builtInFlows.get(organizationId, email.kind))
    return flows
  }

  async #acceptAll(items: Item[]): Promise<Result[]> {
    const results: Result[] = []
    let pending = items.map((item, index): Pending => ({ item, index }))
    let roundsWithoutProgress = 0
    while (pending.length > 0 && roundsWithoutProgress < roundsWithoutProgressMax) {
      const left = await retrying(roundsWithoutProgressMax, () => this.#acceptRound(pending, results))
      roundsWithoutProgress = left.length < pending.length ? 0 : roundsWithoutProgress + 1
      pending = left
    }
    for (const { index } of pending) results[index] = refused(tooBusy())
    return results
  }

  /** Settles as many submissions as possible and returns those that need another round. */
  async #acceptRound(pending: Pending[], results: Result[]): Promise<Pending[]> {
    const { db, quota } = this.#parts
    const rows = pending.reduce((sum, { item }) => sum + messagesIn(item.submission), 0)
    // Before the transaction, because it uses another connection.
    const allowance = await quota?.allowanceFor(pending.map(({ item }) => item.submission.organizationId))
    return db
      .begin((tx) => this.#acceptIn(tx, pending, results, allowance), { rows })
      .finally(() => allowance?.release())
  }

  /** What it writes into `results` counts once the transaction is committed. Returns what needs another round. */
  async #acceptIn(tx: Tx, pending: Pending[], results: Result[], allowance: Allowance | undefined): Promise<Pending[]> {
    const answers = await findAnswers(
      tx,
      pending.flatMap(({ item: { submission, keys } }) =>
        keys.map(({ value }) => ({ organizationId: submission.organizationId, key: value })),
      ),
    )
    // Comes first: a repeated request gets the first response, even if the flow or the contact has changed since.
    const fresh = pending.filter(({ item: { submission }, index }) => {
      const replayed = replay(submission, answers)
      if (replayed) results[index] = replayed
      return !replayed
    })
    if (fresh.length === 0) return []
    const { drafts, left } = await this.#draft(await this.#lookUp(tx, fresh, answers), fresh, results, allowance)
    const written = await writeDrafts(
      tx,
      drafts.map(({ draft }) => draft),
    )
    for (const { pending: each, draft } of drafts)
      if (written.has(draft)) results[each.index] = { ok: true, value: { results: draft.results, isReplayed: false } }
      else left.push(each)
    return left
  }

  async #lookUp(tx: Tx, pending: readonly Pending[], answers: LookUps['answers']): Promise<LookUps> {
    const { templates, senders } = this.#parts
    const flows = new Map<string, { organizationId: OrganizationId; flowId: FlowId }>()
    const versionKeys: Parameters<TemplateCache['getAll']>[0] = []
    const recipients: NewRecipient[] = []
    const addresses: { organizationId: OrganizationId; emailKey: string }[] = []
    /** Emails that do not have the sender of a published version. */
    const others: [OrganizationId, NewEmail][] = []
    for (const { item } of pending) {
      const { organizationId, emails } = item.submission
      for (const { versionId: id } of item.builtInFlows.values()) versionKeys.push({ organizationId, id })
      for (const email of emails) {
        if (email instanceof Refusal) continue
        if (email.source === 'flow')
          flows.set(flowKey(organizationId, email.flowId), { organizationId, flowId: email.flowId })
        if (email.source === 'content' || email.test) others.push([organizationId, email])
        for (const recipient of email.recipients) {
          recipients.push(recipient)
          addresses.push({ organizationId, emailKey: recipient.emailKey })
        }
      }
    }
    const [states, people] = await Promise.all([
      flows.size > 0 ? findFlowStates(tx, [...flows.values()]) : [],
      lockRecipients(tx, addresses),
    ])
    const time = (await transactionTime(tx)) ?? states[0]?.now ?? new Date()
    for (const { organizationId, versionId: id } of states) if (id) versionKeys.push({ organizationId, id })
    const versions = await templates.getAll(versionKeys, tx)
    await senders.loadForCheck(
      [
        ...states.map(({ organizationId, versionId }) => ({
          organizationId,
          address: (versionId && versions.get(versionId)?.fromEmail) ?? null,
        })),
        ...others.map(([organizationId, email]) => senderOf(organizationId, email, undefined)),
      ],
      tx,
    )
    return {
      flows: new Map(states.map((state) => [flowKey(state.organizationId, state.id), state])),
      versions,
      recipients: new Map(recipients.map((recipient, position) => [recipient, people[position]!])),
      answers,
      time,
    }
  }

  /** Drafts the submissions. Rejected ones and slow ones are added to `results`. */
  async #draft(
    lookUps: LookUps,
    pending: readonly Pending[],
    results: Result[],
    allowance: Allowance | undefined,
  ): Promise<{ drafts: PendingDraft[]; left: Pending[] }> {
    const { runner, senders } = this.#parts
    const turns = turnsOfAll(pending.map(({ item }) => item.submission.organizationId))
    const drafter = new Drafter({ runner, senders, lookUps, allowance, turns })
    const drafts: PendingDraft[] = []
    /** Further submissions with the same key get the results of the first once it is written. */
    const left: Pending[] = []
    const usedKeys = new Set<string>()
    for (const each of pending) {
      const { item, index } = each
      const keys = item.keys.map(({ value }) => keyName(item.submission.organizationId, value))
      if (keys.some((key) => usedKeys.has(key))) {
        left.push(each)
        continue
      }
      try {
        const draft = await drafter.draft(item)
        if ('slow' in draft) results[index] = { ok: true, value: draft }
        else {
          drafts.push({ pending: each, draft })
          for (const key of keys) usedKeys.add(key)
        }
      } catch (error) {
        results[index] = refused(error)
      }
    }
    return { drafts, left }
  }
}

/** Returns the earlier results of a submission whose key was used before. */
function replay(
  { organizationId, key, emails }: Submission,
  answers: ReadonlyMap<string, UsedAnswer>,
): Result | undefined {
  const used = key && answers.get(keyName(organizationId, key.value))
  if (!used) return undefined
  try {
    return { ok: true, value: { results: withAddresses(resultsFor(key, used), emails), isReplayed: true } }
  } catch (error) {
    return refused(error)
  }
}

const tooBusy = () =>
  new Refusal('unavailable', 'The request could not be completed because of concurrent changes. Try again.', {
    retryAfterSeconds: 1,
  })

const hasContent = (email: NewEmail | Refusal) => !(email instanceof Refusal) && email.content !== null

const noFlows: Item['builtInFlows'] = new Map()

const refused = (error: unknown): Result => ({ ok: false, error })
