import { ineligibleReason, isTestRecipientId, lockContacts, testRecipientId } from '../../audience/audience.ts'
import { type EmailDraft, type FlowParts, getTestVersion, type ReadyVersion } from '../../content/content.ts'
import type { Tx } from '../../platform/db/db.ts'
import type { EmailAddress } from '../../platform/values/email.ts'
import { conflict, notFound } from '../../platform/values/errors.ts'
import type { FlowKind } from '../../platform/values/flow-kind.ts'
import { type ContactId, type FlowId, type MessageId, newId, type OrganizationId } from '../../platform/values/ids.ts'
import { findFlowStates, findRecipients, type NewMessage, type Recipient } from './accept.sql.ts'
import type { AcceptorParts } from './accept.ts'
import { laneOf, missingRefusal, snapshotText, valuesFor, warningsOf } from './draft.ts'
import { insertWithJobs } from './write-messages.ts'

export const testRecipientsMax = 10

/** How often the contacts are read again because one was erased. */
const triesMax = 3
const subjectPrefix = '[Test] '
const subjectLengthMax = 998

/** `quota` must be given: test emails count towards it. */
export type TestEmailParts = FlowParts & Pick<AcceptorParts, 'templates' | 'quota'>

export type TestRequest = {
  organizationId: OrganizationId
  flowId: FlowId
  recipients: readonly EmailAddress[]
  context: Record<string, unknown>
  /** The context as JSON text. */
  contextText: string
  /** In the future; null to send at once. */
  sendAt: Date | null
  /** Tests the unpublished changes. */
  isDraft: boolean
  /** The version to test instead of the published one. */
  version?: ReadyVersion
  /** The parameters that are added to links, instead of those of the version. */
  utmQuery?: string | undefined
}

export type TestEmail = {
  messageId: MessageId
  /** Null if the address belongs to no contact. */
  contactId: ContactId | null
  email: string
  status: 'queued' | 'scheduled' | 'suppressed'
  reason: string | null
  warnings: string[]
}

/**
 * Queues the email of a flow for each address, also if the flow is paused. Test emails create no contacts, count in no
 * metrics and trigger no webhooks. They bypass the batches of ordinary emails.
 *
 * Throws `Refusal` if the flow does not exist or variables are missing; nothing is sent then.
 */
export async function sendTestEmails(
  parts: TestEmailParts,
  request: TestRequest,
): Promise<{ queuedAt: Date; emails: TestEmail[] }> {
  const { db, templates, senders, quota } = parts
  const { organizationId, flowId } = request
  const [flow] = await findFlowStates(db, [{ organizationId, flowId }])
  if (!flow) throw notFound('flow')
  const versionId =
    request.isDraft || !flow.versionId ? await getTestVersion(parts, organizationId, flowId) : flow.versionId
  const version = request.version ?? (await templates.getAll([{ organizationId, id: versionId }])).get(versionId)!
  const kind = version.kind ?? flow.kind
  await senders.check({ organizationId, address: version.fromEmail })
  for (let tries = 1; ; tries++) {
    const { messages, emails } = await draftTests(parts, request, version, kind)
    const allowance = await quota?.allowanceFor([organizationId])
    try {
      for (const _ of messages) allowance?.use(organizationId)
      if (await db.begin((tx) => write(tx, organizationId, messages))) return { queuedAt: flow.now, emails }
    } finally {
      allowance?.release()
    }
    if (tries === triesMax) throw conflict('The recipients were erased while the test was being sent. Try again.')
  }
}

/** Returns false and writes nothing if one of the contacts was erased since it was read. */
async function write(tx: Tx, organizationId: OrganizationId, messages: readonly NewMessage[]): Promise<boolean> {
  const contactIds = new Set(messages.map(({ contactId }) => contactId).filter((id) => !isTestRecipientId(id)))
  const existing = await lockContacts(tx, organizationId, [...contactIds])
  if (existing.size < contactIds.size) return false
  insertWithJobs(tx, messages)
  return true
}

async function draftTests(
  parts: TestEmailParts,
  request: TestRequest,
  version: ReadyVersion,
  kind: FlowKind,
): Promise<{ messages: NewMessage[]; emails: TestEmail[] }> {
  const { organizationId, recipients } = request
  const people = await findRecipients(
    parts.db,
    recipients.map(({ emailKey }) => ({ organizationId, emailKey })),
  )
  const messages: NewMessage[] = []
  const emails: TestEmail[] = []
  for (const [index, address] of recipients.entries()) {
    const person = people[index]!
    const draft = await parts.runner.draft(version, valuesFor({ ...request, email: address.email }, person))
    if (draft.missing.length > 0) throw missingRefusal(draft.missing)
    const reason = ineligibleReason({ kind, isTest: true }, person)
    const message = testMessage(request, version, address, person, draft, reason)
    messages.push(message)
    emails.push({
      messageId: message.id,
      contactId: person.contactId,
      email: message.email,
      status: message.status === 'queued' && request.sendAt ? 'scheduled' : message.status,
      reason,
      warnings: warningsOf(draft.unused),
    })
  }
  return { messages, emails }
}

function testMessage(
  { organizationId, flowId, contextText, sendAt, utmQuery }: TestRequest,
  version: ReadyVersion,
  { email, emailKey }: EmailAddress,
  person: Recipient,
  { subject, recipient }: EmailDraft,
  reason: string | null,
): NewMessage {
  const id = newId('msg')
  return {
    organizationId,
    id,
    flowId,
    versionId: version.id,
    isTest: true,
    contactId: person.contactId ?? testRecipientId(organizationId, emailKey),
    newContact: null,
    email: person.email ?? email,
    subject: [...`${subjectPrefix}${subject}`].slice(0, subjectLengthMax).join(''),
    context: contextText,
    recipient: snapshotText(utmQuery === undefined ? recipient : { ...recipient, utm: utmQuery }),
    status: reason === null ? 'queued' : 'suppressed',
    reason,
    lane: laneOf(id),
    sendAt,
    idempotencyKey: null,
    requestHash: null,
    answer: null,
  }
}
