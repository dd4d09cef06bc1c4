import { ineligibleReason, testRecipientId } from '../../audience/audience.ts'
import {
  type BuiltInFlow,
  draftValues,
  type EmailDraft,
  type ReadyVersion,
  type TemplateRunner,
} from '../../content/content.ts'
import type { Senders } from '../../delivery/delivery.ts'
import { Pacer } from '../../platform/runtime/pacer.ts'
import { notFound, Refusal } from '../../platform/values/errors.ts'
import type { FlowKind } from '../../platform/values/flow-kind.ts'
import {
  type ContactId,
  type EmailId,
  type FlowId,
  type FlowVersionId,
  type MessageId,
  newId,
  type OrganizationId,
} from '../../platform/values/ids.ts'
import { contentToHandOver, type NewContent } from '../attachments/contents.ts'
import type { FlowState, NewKey, NewMessage, Recipient } from './accept.sql.ts'
import { missingRefusal, warningsOf } from './context.ts'
import type { Allowance } from './new-organization-quota.ts'
import { answerText, resultsFor, type UsedAnswer } from './stored-answer.ts'
import {
  type AcceptedEmail,
  type AcceptedMessage,
  type EmailResult,
  type FlowEmail,
  type IdempotencyKey,
  keyName,
  type NewEmail,
  type NewRecipient,
  type Submission,
} from './submission.ts'
import type { Rows } from './write-drafts.ts'

/** A submission that waits to be accepted. */
export type Item = {
  submission: Submission
  /** The flows of its emails without a flow. */
  builtInFlows: ReadonlyMap<FlowKind, BuiltInFlow>
  keys: readonly IdempotencyKey[]
  /** What task processes drafted, because the template is too slow for the main thread. */
  drafted?: Map<NewRecipient, { versionId: FlowVersionId; text: EmailDraft }>
}

/** What the submissions of a batch refer to. */
export type LookUps = {
  /** By `flowKey`. */
  flows: ReadonlyMap<string, FlowState>
  versions: ReadonlyMap<FlowVersionId, ReadyVersion>
  recipients: ReadonlyMap<NewRecipient, Recipient>
  /** Earlier results, by `keyName`. */
  answers: ReadonlyMap<string, UsedAnswer>
  time: Date
}

/** The rows of a submission, and its results once they are written. */
export type Draft = Rows & { results: EmailResult[] }
/** Drafts the email of one recipient in a task process. */
type SlowDraft = () => Promise<unknown>

type DrafterParts = {
  runner: TemplateRunner
  senders: Pick<Senders, 'checkLoaded'>
  lookUps: LookUps
  allowance: Allowance | undefined
  /** Who takes the turns in which the emails are drafted. */
  turns: string
}

/** What the messages of an email have in common. */
type Origin = {
  organizationId: OrganizationId
  email: NewEmail
  /** Of its content, if any. */
  id: EmailId | null
  flowId: FlowId
  kind: FlowKind
  version: ReadyVersion
}

/** Drafts the submissions of a batch. */
export class Drafter {
  readonly #parts: DrafterParts
  readonly #pacer: Pacer
  /** The contacts that are created, by address. */
  readonly #newContacts = new Map<string, ContactId>()

  constructor(parts: DrafterParts) {
    this.#parts = parts
    this.#pacer = new Pacer(parts.turns)
  }

  /**
   * Decides what is accepted of a submission: which sender it may use, which recipients may get it, and what it says. Returns
   * the slow drafts, if any: they have to be completed first. Throws `Refusal` if the submission is rejected as a whole.
   */
  async draft(item: Item): Promise<Draft | { slow: SlowDraft[] }> {
    const { organizationId, emails, isAtomic, key } = item.submission
    const draft: Draft = { messages: [], contents: [], keys: [], results: [] }
    const slow: SlowDraft[] = []
    for (const email of emails) {
      const before = [draft.messages.length, draft.keys.length] as const
      try {
        if (email instanceof Refusal) throw email
        draft.results.push({ ok: true, email: await this.#draftEmail(item, email, draft, slow) })
      } catch (error) {
        if (isAtomic || !(error instanceof Refusal)) throw error
        ;[draft.messages.length, draft.keys.length] = before
        draft.results.push({ ok: false, error })
      }
    }
    if (slow.length > 0) return { slow }
    this.#parts.allowance?.use(organizationId, draft.messages.length)
    const [first] = draft.messages
    if (first && key) draft.keys.push(newKey(organizationId, key, first.message.id, draft.results))
    return draft
  }

  async #draftEmail(item: Item, email: NewEmail, draft: Draft, slow: SlowDraft[]): Promise<AcceptedEmail> {
    const { senders, lookUps, allowance } = this.#parts
    const origin = this.#originOf(item, email)
    const { organizationId, id, kind, version } = origin
    senders.checkLoaded(senderOf(organizationId, email, version))
    const content = contentOf(email)
    const handedOver = id && content ? contentToHandOver(id, organizationId, content) : undefined
    const accepted: AcceptedEmail = { id, queuedAt: lookUps.time, sendAt: email.sendAt, messages: [] }
    const { length } = draft.messages
    for (const recipient of email.recipients) {
      if (this.#pacer.isDue) await this.#pacer.turn()
      const earlier = this.#earlierMessage(organizationId, recipient)
      if (earlier) {
        accepted.messages.push(earlier)
        continue
      }
      const person = lookUps.recipients.get(recipient)!
      const text =
        email.source === 'flow'
          ? this.#textOf(item, email, version, recipient, slow)
          : { subject: email.subject, missing: [], unused: [], recipient: {} }
      if (!text) continue
      const { message, shown } = this.#draftMessage(origin, recipient, person, text)
      accepted.messages.push(shown)
      draft.messages.push({ message, toSend: { version, flowKind: kind, person, content: handedOver } })
      if (recipient.key)
        draft.keys.push(
          newKey(organizationId, recipient.key, message.id, [{ ok: true, email: { ...accepted, messages: [shown] } }]),
        )
    }
    allowance?.check(organizationId, draft.messages.length)
    // Of an email whose recipients all have messages already, nothing is stored.
    if (id && content && draft.messages.length > length)
      draft.contents.push({ organizationId, id, content, sendAt: email.sendAt })
    return accepted
  }

  /** Throws `Refusal` if nothing can be sent through the flow. */
  #originOf({ submission: { organizationId }, builtInFlows }: Item, email: NewEmail): Origin {
    const { flows, versions } = this.#parts.lookUps
    const flow =
      email.source === 'content' ? builtInFlows.get(email.kind) : flows.get(flowKey(organizationId, email.flowId))
    if (!flow) throw notFound('flow')
    const test = email.source === 'flow' ? email.test : null
    if (!test && flow.versionId === null)
      throw new Refusal('flow_not_active', 'This flow was never published. Publish it to send through it.')
    if (!test && 'status' in flow && flow.status !== 'active')
      throw new Refusal('flow_not_active', `This flow is ${flow.status}. Activate it to send through it.`)
    const version = test?.version ?? versions.get(flow.versionId!)!
    const id = email.content ? newId('eml') : null
    return { organizationId, email, id, flowId: flow.id, kind: test?.version.kind ?? flow.kind, version }
  }

  /** Returns the message of a recipient whose key was used. */
  #earlierMessage(organizationId: OrganizationId, { key, email }: NewRecipient): AcceptedMessage | undefined {
    const used = key && this.#parts.lookUps.answers.get(keyName(organizationId, key.value))
    if (!used) return undefined
    const [result] = resultsFor(key, used)
    const message = result?.ok ? result.email.messages[0] : undefined
    return message && { ...message, email: message.email || email }
  }

  /** Returns undefined if the template is too slow for the main thread, and adds the draft to `slow`. */
  #textOf(
    item: Item,
    email: FlowEmail,
    version: ReadyVersion,
    recipient: NewRecipient,
    slow: SlowDraft[],
  ): EmailDraft | undefined {
    const drafted = item.drafted?.get(recipient)
    if (drafted?.versionId === version.id) return drafted.text
    const { runner, lookUps } = this.#parts
    const { email: address, firstName, lastName, attributes, organizationName } = lookUps.recipients.get(recipient)!
    const contact = { email: address ?? recipient.email, firstName, lastName, attributes: attributes ?? {} }
    const values = draftValues(contact, organizationName, email.context, email.sendAt?.getTime())
    const text = slow.length === 0 ? runner.draftNow(version, values) : undefined
    if (text) return text
    // One after the other, since an organization has few places in the queue of the task processes.
    slow.push(async () => {
      item.drafted ??= new Map()
      item.drafted.set(recipient, { versionId: version.id, text: await runner.draft(version, values) })
    })
    return undefined
  }

  /** Throws `Refusal` if variables are missing. */
  #draftMessage(
    { organizationId, email, id: contentId, flowId, kind, version }: Origin,
    recipient: NewRecipient,
    person: Recipient,
    { missing, unused, subject, recipient: snapshot }: EmailDraft,
  ): { message: NewMessage; shown: AcceptedMessage } {
    if (missing.length > 0) throw missingRefusal(missing)
    const isOfFlow = email.source === 'flow'
    const test = isOfFlow ? email.test : null
    // All recipients of an email without a flow see the addresses as they were given.
    const address = isOfFlow ? (person.email ?? recipient.email) : recipient.email
    const { contactId, isNew } = test
      ? { contactId: person.contactId ?? testRecipientId(organizationId, recipient.emailKey), isNew: false }
      : this.#contactOf(organizationId, recipient, person)
    const reason = ineligibleReason({ kind, isTest: test !== null }, person)
    const status = reason === null ? 'queued' : 'suppressed'
    const id = newId('msg')
    return {
      message: {
        organizationId,
        id,
        flowId,
        versionId: version.id,
        isTest: test !== null,
        contactId,
        newContact:
          person.contactId || test
            ? null
            : {
                emailKey: recipient.emailKey,
                subscription: person.subscription === 'unsubscribed' ? 'unsubscribed' : 'not_subscribed',
              },
        email: address,
        subject: test ? testSubject(subject) : subject,
        context: isOfFlow ? email.contextText : '{}',
        recipient: snapshotText(test?.utmQuery === undefined ? snapshot : { ...snapshot, utm: test.utmQuery }),
        status,
        reason,
        lane: laneOf(id),
        sendAt: email.sendAt,
        contentId,
        tags: isOfFlow || email.tags.length === 0 ? null : JSON.stringify(email.tags),
      },
      shown: {
        id,
        contactId: test ? person.contactId : contactId,
        contactCreated: isNew,
        email: address,
        status: email.sendAt && status === 'queued' ? 'scheduled' : status,
        reason,
        warnings: warningsOf(unused),
      },
    }
  }

  #contactOf(organizationId: OrganizationId, { emailKey }: NewRecipient, { contactId }: Recipient) {
    if (contactId) return { contactId, isNew: false }
    const address = `${organizationId} ${emailKey}`
    const known = this.#newContacts.get(address)
    if (known) return { contactId: known, isNew: false }
    const created = newId('con')
    this.#newContacts.set(address, created)
    return { contactId: created, isNew: true }
  }
}

/** Keyed by organization as well, so a caller cannot reach another tenant's flow. */
export const flowKey = (organizationId: OrganizationId, flowId: FlowId) => `${organizationId} ${flowId}`

export const senderOf = (organizationId: OrganizationId, email: NewEmail, version: ReadyVersion | undefined) =>
  email.source === 'content'
    ? { organizationId, address: email.content.details.from?.email ?? null, path: 'from' as const }
    : { organizationId, address: (email.test?.version ?? version)?.fromEmail ?? null }

/** A raw email has a Message-ID of its own. */
function contentOf({ source, content, recipients }: NewEmail): NewContent | null {
  if (source === 'flow') return content
  const { details } = content
  return { ...content, details: { ...details, sharesMessageId: details.kind === 'email' && recipients.length > 1 } }
}

const newKey = (
  organizationId: OrganizationId,
  { value: key, requestHash }: IdempotencyKey,
  messageId: MessageId,
  results: readonly EmailResult[],
): NewKey => ({ organizationId, key, requestHash, messageId, answer: answerText(results) })

const subjectPrefix = '[Test] '
const subjectLengthMax = 998
const testSubject = (subject: string) => [...`${subjectPrefix}${subject}`].slice(0, subjectLengthMax).join('')

/** The messages of an organization are split over this many lanes, so that several processes can share them. */
const lanesPerOrganization = 4

export const laneOf = (id: MessageId): string => String(Number.parseInt(id.slice(-1), 16) % lanesPerOrganization)

const snapshotText = (recipient: EmailDraft['recipient']) => (isEmpty(recipient) ? null : JSON.stringify(recipient))

function isEmpty(object: object): boolean {
  for (const _ in object) return false
  return true
}
