import { ineligibleReason } from '../contacts/eligibility.ts'
import { testRecipientId } from '../contacts/test-recipient.ts'
import { getTestVersion } from '../flows/drafts.ts'
import type { FlowParts } from '../flows/flows.ts'
import type { ReadyVersion } from '../flows/template-cache.ts'
import type { EmailDraft } from '../flows/templates.task.ts'
import type { EmailAddress } from '../values/email.ts'
import { notFound } from '../values/errors.ts'
import { type ContactId, type FlowId, type MessageId, newId, type OrganizationId } from '../values/ids.ts'
import { findFlowStates, findRecipients, type NewMessage, type Recipient } from './accept.sql.ts'
import type { AcceptorParts } from './accept.ts'
import { laneOf, missingRefusal, snapshotText, valuesFor, warningsOf } from './draft.ts'
import { insertWithJobs } from './write-messages.ts'

export const testRecipientsMax = 10

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
  const { organizationId, flowId, recipients } = request
  const [flow] = await findFlowStates(db, [{ organizationId, flowId }])
  if (!flow) throw notFound('flow')
  const versionId =
    request.isDraft || !flow.versionId ? await getTestVersion(parts, organizationId, flowId) : flow.versionId
  const version = request.version ?? (await templates.getAll([{ organizationId, id: versionId }])).get(versionId)!
  const kind = version.kind ?? flow.kind
  await senders.check({ organizationId, address: version.fromEmail })
  const people = await findRecipients(
    db,
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

  const allowance = await quota?.allowanceFor([organizationId])
  try {
    for (const _ of messages) allowance?.use(organizationId)
    await db.begin(async (tx) => insertWithJobs(tx, messages))
  } finally {
    allowance?.release()
  }
  return { queuedAt: flow.now, emails }
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
