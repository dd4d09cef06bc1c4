import { Batcher, type Settled } from '../batcher.ts'
import { type Db, isConnectionFault, isRetryable } from '../db/db.ts'
import { Refusal } from '../errors.ts'
import { missingVariables, unusedContextKeys } from '../flows/template.ts'
import type { ReadyVersion, TemplateCache } from '../flows/template-cache.ts'
import { type ContactId, type FlowId, type MessageId, newId, type OrganizationId } from '../ids.ts'
import type { Hints } from '../queue/hints.ts'
import {
  type FlowState,
  findFlowStates,
  findHeldKeys,
  findRecipients,
  type HeldKey,
  insertMessages,
  type NewMessage,
  type Recipient,
} from './accept.sql.ts'

/** One call to send, checked for its form. */
export type SendRequest = {
  organizationId: OrganizationId
  flowId: FlowId
  email: string
  emailKey: string
  context: Record<string, unknown>
  /** The context as JSON text. */
  contextText: string
  idempotencyKey: string | null
  /** Tells whether a second call with the same key is the same call. */
  requestHash: string | null
  isTest: boolean
}

export type Accepted = {
  messageId: MessageId
  flowId: FlowId
  contactId: ContactId
  contactEmail: string
  contactCreated: boolean
  status: 'queued' | 'suppressed'
  reason: string | null
  queuedAt: Date
  warnings: string[]
  /** True when this is the answer to an earlier call with the same idempotency key. */
  replayed: boolean
}

const batchMax = 500
const waitingMax = 5_000
/** How often calls are looked at again because something changed between looking and writing. */
const inVainMax = 8
/** An organization's mail is split over so many lanes, so that several processes can share it. */
const lanesPerOrganization = 4

type Pending = { request: SendRequest; index: number }
type Draft = Pending & { message: NewMessage; accepted: Omit<Accepted, 'queuedAt'> }

/**
 * Promises to send emails. Calls that come at the same time share a commit, and each stands or falls alone. The promise is
 * the commit: message, job, contact and idempotency key are written in one statement.
 */
export class Acceptor {
  readonly #db: Db
  readonly #templates: TemplateCache
  readonly #hints: Hints
  readonly #batcher: Batcher<SendRequest, Accepted>

  constructor({ db, templates, hints }: { db: Db; templates: TemplateCache; hints: Hints }) {
    this.#db = db
    this.#templates = templates
    this.#hints = hints
    this.#batcher = new Batcher({
      run: (requests) => this.#acceptAll(requests),
      itemsMax: batchMax,
      waitingMax,
      concurrency: 2,
      splitOn: (error) => !isConnectionFault(error),
    })
  }

  accept(request: SendRequest): Promise<Accepted> {
    return this.#batcher.add(request)
  }

  async #acceptAll(requests: SendRequest[]): Promise<Settled<Accepted>[]> {
    const results: Settled<Accepted>[] = []
    let pending = requests.map((request, index): Pending => ({ request, index }))
    let inVain = 0
    while (pending.length > 0 && inVain < inVainMax) {
      const left = await this.#acceptRound(pending, results)
      inVain = left.length < pending.length ? 0 : inVain + 1
      pending = left
    }
    for (const { index } of pending) results[index] = refused(tooBusy())
    this.#hints.give('message.send')
    return results
  }

  /** Settles what it can and answers with what has to be looked at again. */
  async #acceptRound(pending: Pending[], results: Settled<Accepted>[]): Promise<Pending[]> {
    const { now, later } = withoutTwins(pending)
    const { drafts, settled } = await this.#draft(now)
    for (const [index, result] of settled) results[index] = result
    const written = await this.#write(drafts)
    const left: Pending[] = later
    for (const draft of drafts) {
      const queuedAt = written.get(draft.message.id)
      if (queuedAt) results[draft.index] = { ok: true, value: { ...draft.accepted, queuedAt } }
      else left.push(draft)
    }
    const replayed = await this.#replay(left, results)
    return left.filter((each) => !replayed.has(each))
  }

  async #draft(pending: Pending[]): Promise<{ drafts: Draft[]; settled: Map<number, Settled<Accepted>> }> {
    const requests = pending.map(({ request }) => request)
    const [states, recipients] = await Promise.all([
      findFlowStates(this.#db, unique(requests)),
      findRecipients(this.#db, requests),
    ])
    const flows = new Map(states.map((state) => [state.id, state]))
    const versions = await this.#templates.getAll(
      states.map(({ organizationId, versionId: id }) => ({ organizationId, id })),
    )
    const people = new Map(recipients.map((person) => [personKey(person), person]))
    const newContacts = new Map<string, ContactId>()

    const drafts: Draft[] = []
    const settled = new Map<number, Settled<Accepted>>()
    for (const { request, index } of pending) {
      try {
        const flow = checkFlow(request, flows.get(request.flowId))
        const person = people.get(personKey(request))!
        drafts.push({
          request,
          index,
          ...draftMessage(request, flow, versions.get(flow.versionId)!, person, newContacts),
        })
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        settled.set(index, refused(error))
      }
    }
    return { drafts, settled }
  }

  async #write(drafts: Draft[]): Promise<Map<MessageId, Date>> {
    if (drafts.length === 0) return new Map()
    const messages = drafts.map(({ message }) => message)
    for (let attempt = 0; ; attempt++) {
      try {
        const rows = await insertMessages(this.#db.alone, messages)
        return new Map(rows.map(({ id, queuedAt }) => [id, queuedAt]))
      } catch (error) {
        if (!isRetryable(error) || attempt === inVainMax) throw error
      }
    }
  }

  /** Settles those whose idempotency key is taken. */
  async #replay(pending: Pending[], results: Settled<Accepted>[]): Promise<Set<Pending>> {
    const keyed = pending.filter(({ request }) => request.idempotencyKey !== null)
    if (keyed.length === 0) return new Set()
    const held = await findHeldKeys(
      this.#db,
      keyed.map(({ request }) => ({ organizationId: request.organizationId, key: request.idempotencyKey! })),
    )
    const byKey = new Map(held.map((key) => [`${key.organizationId} ${key.key}`, key]))
    const done = new Set<Pending>()
    for (const each of keyed) {
      const found = byKey.get(twinKey(each.request)!)
      if (!found) continue
      results[each.index] =
        found.requestHash === each.request.requestHash ? { ok: true, value: answerAgain(found) } : refused(keyReused())
      done.add(each)
    }
    return done
  }
}

const refused = (error: Refusal): Settled<Accepted> => ({ ok: false, error })
const tooBusy = () =>
  new Refusal('unavailable', 'This could not be written. Try again in a moment.', { retryAfterSeconds: 1 })
const keyReused = () =>
  new Refusal('idempotency_key_reused', 'This Idempotency-Key was used with another request. Use a new one.')

const personKey = ({ organizationId, emailKey }: { organizationId: OrganizationId; emailKey: string }) =>
  `${organizationId} ${emailKey}`
const twinKey = ({ organizationId, idempotencyKey }: SendRequest) =>
  idempotencyKey === null ? undefined : `${organizationId} ${idempotencyKey}`

/** Of several calls with one idempotency key, one at a time: the next then finds the first one's answer. */
function withoutTwins(pending: Pending[]): { now: Pending[]; later: Pending[] } {
  const seen = new Set<string>()
  const now: Pending[] = []
  const later: Pending[] = []
  for (const each of pending) {
    const key = twinKey(each.request)
    if (key === undefined || !seen.has(key)) now.push(each)
    else later.push(each)
    if (key !== undefined) seen.add(key)
  }
  return { now, later }
}

const unique = (requests: SendRequest[]) => [
  ...new Map(requests.map(({ organizationId, flowId }) => [flowId, { organizationId, flowId }])).values(),
]

function checkFlow({ organizationId, isTest }: SendRequest, flow: FlowState | undefined): FlowState {
  if (!flow || flow.organizationId !== organizationId) throw new Refusal('not_found', 'There is no such flow.')
  if (!isTest && flow.status !== 'active')
    throw new Refusal('flow_not_active', `This flow is ${flow.status}. Activate it to send through it.`)
  return flow
}

function draftMessage(
  request: SendRequest,
  flow: FlowState,
  version: ReadyVersion,
  person: Recipient,
  newContacts: Map<string, ContactId>,
): Pick<Draft, 'message' | 'accepted'> {
  const { organizationId, flowId, context, isTest } = request
  const values = {
    contact: {
      email: person.email ?? request.email,
      firstName: person.firstName,
      lastName: person.lastName,
      attributes: person.attributes ?? {},
    },
    organization: { name: person.organizationName },
    unsubscribeUrl: 'https://unsubscribe.invalid',
    context,
  }
  const missing = missingVariables(version.template, values)
  if (missing.length > 0)
    throw new Refusal('missing_variables', `The template needs ${missing.join(', ')}. Give them in the context.`, {
      fields: missing.map((name) => ({
        path: `context.${name}`,
        problem: 'is needed by the template and has no default',
      })),
    })

  const known = newContacts.get(personKey(request))
  const contactId = person.contactId ?? known ?? newId('con')
  if (!person.contactId) newContacts.set(personKey(request), contactId)
  const reason = suppressionReason(flow, person, isTest)
  const status = reason === null ? 'queued' : 'suppressed'
  const warnings = unusedContextKeys(version.template, context).map(
    (key) => `The template does not use the context key "${key}".`,
  )
  const contactCreated = !person.contactId && !known
  const messageId = newId('msg')
  return {
    accepted: {
      messageId,
      flowId,
      contactId,
      contactEmail: values.contact.email,
      contactCreated,
      status,
      reason,
      warnings,
      replayed: false,
    },
    message: {
      organizationId,
      id: messageId,
      flowId,
      versionId: flow.versionId,
      isTest,
      contactId,
      newContactKey: person.contactId ? null : request.emailKey,
      email: values.contact.email,
      subject: version.template.renderSubject(values),
      context: request.contextText,
      status,
      reason,
      lane: String(Number.parseInt(messageId.slice(-1), 16) % lanesPerOrganization),
      idempotencyKey: request.idempotencyKey,
      requestHash: request.requestHash,
      answer: JSON.stringify({ contact_created: contactCreated, status, reason, warnings }),
    },
  }
}

/** Why this person gets no mail of this flow; null when they do. */
export function suppressionReason(
  flow: Pick<FlowState, 'kind'>,
  person: Pick<Recipient, 'suppressedBy' | 'subscription'>,
  isTest: boolean,
): string | null {
  if (person.suppressedBy) return person.suppressedBy
  if (flow.kind === 'transactional') return null
  if (person.subscription === 'unsubscribed') return 'unsubscribed'
  return person.subscription === 'subscribed' || isTest ? null : 'not_subscribed'
}

function answerAgain(held: HeldKey): Accepted {
  const { contact_created: contactCreated, status, reason, warnings } = held.answer
  return {
    messageId: held.messageId,
    flowId: held.flowId,
    contactId: held.contactId,
    contactEmail: held.email,
    contactCreated,
    status,
    reason,
    queuedAt: held.queuedAt,
    warnings,
    replayed: true,
  }
}
