import { ineligibleReason } from '../../audience/audience.ts'
import { draftValues, type EmailDraft, type TemplateValues } from '../../content/content.ts'
import { invalid, notFound, Refusal } from '../../platform/values/errors.ts'
import {
  type ContactId,
  type FlowId,
  type FlowVersionId,
  type MessageId,
  newId,
  type OrganizationId,
} from '../../platform/values/ids.ts'
import { isDeeperThan } from '../../platform/values/nesting.ts'
import { isStorableJson, unstorableProblem } from '../../platform/values/text.ts'
import type { NewContent } from '../attachments/contents.ts'
import type { FlowState, NewMessage, Recipient } from './accept.sql.ts'

/** A validated send request. */
export type SendRequest = {
  organizationId: OrganizationId
  flowId: FlowId
  email: string
  emailKey: string
  context: Record<string, unknown>
  /** The context as JSON text. */
  contextText: string
  idempotencyKey: string | null
  /** Identifies the request, to detect a key that is reused for a different one. */
  requestHash: string | null
  /** In the future. The email is sent at once if it is null or omitted. */
  sendAt?: Date | null
  /** The attachments of the email. */
  content?: NewContent | undefined
  /** The draft from a task process, if the template is too slow for the main thread. */
  drafted?: { versionId: FlowVersionId; draft: EmailDraft }
}

const contextBytesMax = 64 * 1024
const contextDepthMax = 50

/** Throws `Refusal` if the context is too large or too deep. */
export function contextAsText(context: Record<string, unknown>): string {
  if (isDeeperThan(context, contextDepthMax))
    throw invalid({ path: 'context', problem: `must be nested at most ${contextDepthMax} levels deep` })
  const text = JSON.stringify(context)
  if (Buffer.byteLength(text) > contextBytesMax)
    throw invalid({ path: 'context', problem: 'must be at most 64 KiB as JSON' })
  if (!isStorableJson(text)) throw invalid({ path: 'context', problem: unstorableProblem })
  return text
}

export type Accepted = {
  messageId: MessageId
  flowId: FlowId
  contactId: ContactId
  contactEmail: string
  contactCreated: boolean
  status: 'queued' | 'scheduled' | 'suppressed'
  reason: string | null
  queuedAt: Date
  sendAt: Date | null
  warnings: string[]
  /** True if this repeats the response to an earlier request with the same idempotency key. */
  replayed: boolean
}

/** The messages of an organization are split over this many lanes, so that several processes can share them. */
const lanesPerOrganization = 4

export const laneOf = (id: MessageId): string => String(Number.parseInt(id.slice(-1), 16) % lanesPerOrganization)

export type Draft = { message: NewMessage; accepted: Omit<Accepted, 'queuedAt'> }

type PublishedFlow = FlowState & { versionId: FlowVersionId }

export function checkFlow({ organizationId }: SendRequest, flow: FlowState | undefined): PublishedFlow {
  if (!flow || flow.organizationId !== organizationId) throw notFound('flow')
  if (flow.versionId === null)
    throw new Refusal('flow_not_active', 'This flow was never published. Publish it to send through it.')
  if (flow.status !== 'active')
    throw new Refusal('flow_not_active', `This flow is ${flow.status}. Activate it to send through it.`)
  return flow as PublishedFlow
}

/** Returns the template values at the time a message is accepted. */
export function valuesFor(
  request: Pick<SendRequest, 'email' | 'context' | 'sendAt'>,
  person: Recipient,
): TemplateValues {
  const { firstName, lastName } = person
  const contact = { email: person.email ?? request.email, firstName, lastName, attributes: person.attributes ?? {} }
  return draftValues(contact, person.organizationName, request.context, request.sendAt?.getTime())
}

/** Returns the rows to write and the response. Throws `Refusal` if variables are missing. */
export function draftMessage(
  request: SendRequest,
  flow: PublishedFlow,
  { missing, unused, subject, recipient }: EmailDraft,
  person: Recipient,
  newContacts: Map<string, ContactId>,
): Draft {
  const { organizationId, flowId, sendAt = null } = request
  if (missing.length > 0) throw missingRefusal(missing)

  const email = person.email ?? request.email
  const known = person.contactId ?? newContacts.get(personKey(request))
  const contactId = known ?? newId('con')
  if (!known) newContacts.set(personKey(request), contactId)
  const reason = ineligibleReason(flow, person)
  const status = reason === null ? 'queued' : 'suppressed'
  const shownStatus = sendAt && status === 'queued' ? 'scheduled' : status
  const warnings = warningsOf(unused)
  const contactCreated = !known
  const messageId = newId('msg')
  return {
    accepted: {
      messageId,
      flowId,
      contactId,
      contactEmail: email,
      contactCreated,
      status: shownStatus,
      reason,
      sendAt,
      warnings,
      replayed: false,
    },
    message: {
      organizationId,
      id: messageId,
      flowId,
      versionId: flow.versionId,
      isTest: false,
      contactId,
      newContact: person.contactId
        ? null
        : {
            emailKey: request.emailKey,
            subscription: person.subscription === 'unsubscribed' ? 'unsubscribed' : 'not_subscribed',
          },
      email,
      subject,
      context: request.contextText,
      recipient: snapshotText(recipient),
      status,
      reason,
      lane: laneOf(messageId),
      sendAt,
      contentId: request.content ? newId('eml') : null,
      idempotencyKey: request.idempotencyKey,
      requestHash: request.requestHash,
      answer:
        request.idempotencyKey === null
          ? null
          : JSON.stringify({ contact_created: contactCreated, status: shownStatus, reason, warnings }),
    },
  }
}

export const snapshotText = (recipient: EmailDraft['recipient']) =>
  isEmpty(recipient) ? null : JSON.stringify(recipient)

export const warningsOf = (unused: readonly string[]) =>
  unused.map((key) => `The template does not use the context key "${key}".`)

function isEmpty(object: object): boolean {
  for (const _ in object) return false
  return true
}

/** Names under `contact` belong to the contact; the context cannot provide them. */
export function missingRefusal(names: string[]): Refusal {
  const ofContact = names.filter((name) => name.startsWith('contact.'))
  const others = names.filter((name) => !ofContact.includes(name))
  const sentences = [
    others.length > 0 && `The template requires ${list.format(others)}. Add ${themOf(others)} to the context.`,
    ofContact.length > 0 &&
      `The contact has no ${list.format(ofContact)}. Set ${themOf(ofContact)} on the contact, or add a default to the template.`,
  ]
  return new Refusal('missing_variables', sentences.filter(Boolean).join(' '), {
    fields: names.map((name) => ({
      path: /^(?:contact|context)\./.test(name) ? name : `context.${name}`,
      problem: 'is required by the template and has no default',
    })),
  })
}

const list = new Intl.ListFormat('en')
const themOf = (names: string[]) => (names.length === 1 ? 'it' : 'them')

const personKey = ({ organizationId, emailKey }: SendRequest) => `${organizationId} ${emailKey}`
