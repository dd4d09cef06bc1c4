import { getContact } from '../../audience/audience.ts'
import { draftValues, type ReadyVersion, type TemplateCache, type TemplateRunner } from '../../content/content.ts'
import { linkOf } from '../../events/events.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import type { Reader } from '../../platform/db/db.ts'
import { firstContactId, type IdRange, rangeOf } from '../../platform/db/id-range.ts'
import { runSlices } from '../../platform/db/slices.ts'
import { invalid, Refusal } from '../../platform/values/errors.ts'
import type { ContactId, MessageId } from '../../platform/values/ids.ts'
import { type EmailBody, markLinks, showMail, shownUnsubscribeUrl } from '../../sending/sending.ts'
import {
  type AudienceContact,
  type AudienceQuery,
  findSliceEnd,
  selectAudience,
  sliceAfter,
} from '../audience/audience.sql.ts'
import type { Broadcast, RecipientStatus } from '../broadcasts.sql.ts'
import { readyToSend } from '../lifecycle.ts'
import { type FlowOfBroadcast, findFlowOf } from '../results/flow-of-broadcast.sql.ts'
import { kindOf } from '../sending/service-announcements.ts'
import { loadVersions } from '../variants.ts'
import { findFrozen, findSentEmail, type SentEmail, selectFrozen } from './preview.sql.ts'

const choicesMax = 10
/** How long a contact of the audience is looked for. Segments may match few contacts of many. */
const searchMsMax = 2_000

/** Shown if the audience is empty. */
const exampleContact = { email: 'recipient@example.com', firstName: null, lastName: null, attributes: {} }

type Contact = Pick<AudienceContact, 'id' | 'email' | 'firstName' | 'lastName' | 'attributes'>

export type BroadcastPreview = {
  /** Null if nobody is in the audience. */
  contact: Contact | null
  inAudience: boolean
  /** Recipients to choose from, if none was chosen. */
  choices: Contact[]
  /** Set if the email was sent: it is shown as it was. */
  messageId: MessageId | null
  variant: number | null
  subject: string | null
  html: string | null
  text: string | null
  /** Variables without a value, for which the email would not be sent. */
  missing: string[]
  /** The destinations of tracked links as they are counted, by the number in `data-waxwing-link`. */
  links: string[]
}

type Choice = { contactId: ContactId | undefined; variant: number | undefined }
type Parts = { read: BoundedRead; templates: TemplateCache; runner: TemplateRunner }

/**
 * Renders the email of a broadcast as a contact gets it: as it was sent, if it was, and otherwise as it would be sent now.
 * Without a chosen contact, the first of the audience is shown. Throws `Refusal` if there is no flow or no such contact.
 */
export async function previewBroadcast(
  { read, templates, runner }: Parts,
  broadcast: Broadcast,
  { contactId, variant }: Choice,
): Promise<BroadcastPreview> {
  const { organizationId } = broadcast
  if (variant !== undefined && variant >= broadcast.variants.length)
    throw invalid({ path: 'variant', problem: 'does not exist' })
  const { flow, audience, versionFor } = await read(organizationId, (db) => prepare(db, templates, broadcast))
  const choices = contactId ? [] : await findChoices(read, broadcast, audience, variant)
  const id = contactId ?? choices[0]?.id
  const found = id && (await read(organizationId, (db) => findRecipient(db, broadcast, audience, id)))
  const contact = found?.contact ?? null
  const sent = found?.sent
  const shown = variant ?? found?.variant ?? (broadcast.variants.length > 0 ? (broadcast.winner ?? 0) : null)
  const version = versionFor(shown)
  // The stored values are those that the sent variant reads.
  const isAsSent = sent !== undefined && (variant === undefined || variant === sent.variant)
  const email = isAsSent
    ? await showSent(runner, broadcast, version, sent)
    : await showDraft(runner, broadcast, version, flow, contact ?? exampleContact)
  const { html, urls } = email.html === null ? { html: null, urls: [] } : markLinks(email.html, shownUnsubscribeUrl)
  return {
    contact,
    inAudience: found?.isIncluded ?? false,
    choices,
    messageId: isAsSent ? sent.messageId : null,
    variant: shown,
    ...email,
    html,
    links: urls.map((url) => linkOf(url) ?? url),
  }
}

async function prepare(db: Reader, templates: TemplateCache, broadcast: Broadcast) {
  const { organizationId, flowId, flowVersionId } = broadcast
  if (flowId === null) throw invalid({ path: 'flow_id', problem: 'is required. Choose the flow to send' })
  const flow = await findFlowOf(db, organizationId, flowId, flowVersionId !== null)
  const versionFor = flow && (await loadVersions({ db, templates }, broadcast, flowVersionId ?? flow.versionId))
  if (!versionFor) throw invalid({ path: 'flow_id', problem: 'does not exist' })
  return { flow, versionFor, audience: await findAudience(db, broadcast) }
}

/** Returns undefined if the recipients are frozen already, or if the broadcast cannot be started as it is. */
async function findAudience(db: Reader, broadcast: Broadcast): Promise<AudienceQuery | undefined> {
  if (broadcast.startedAt) return undefined
  try {
    return (await readyToSend(db, broadcast)).audience
  } catch (error) {
    if (error instanceof Refusal && error.type !== 'unavailable') return undefined
    throw error
  }
}

/** Recipients that were sent the email, or would be. */
async function findChoices(
  read: BoundedRead,
  broadcast: Broadcast,
  audience: AudienceQuery | undefined,
  variant: number | undefined,
): Promise<AudienceContact[]> {
  const { organizationId, startedAt } = broadcast
  if (startedAt) {
    const select = (isSent: boolean) =>
      read(organizationId, (db) => selectFrozen(db, broadcast, { isSent, variant, limit: choicesMax }))
    const sent = await select(true)
    return sent.length > 0 ? sent : select(false)
  }
  if (!audience) return []
  let found: AudienceContact[] = []
  const run = (after: IdRange['after'], size: number) =>
    read(organizationId, async (db) => {
      const end = await findSliceEnd(db, audience, after, size)
      found = await selectAudience(db, audience, sliceAfter(after, end), choicesMax)
      return found.length > 0 ? undefined : end
    })
  const until = performance.now() + searchMsMax
  await runSlices({ from: firstContactId, run, isOver: () => performance.now() > until })
  return found
}

type Found = { contact: Contact; isIncluded: boolean; variant: number | null; sent: SentEmail | undefined }

/** The email was sent, or will be. */
const included: RecipientStatus[] = ['pending', 'queued', 'sent', 'bounced']

/** Throws `Refusal` if there is no such contact. */
async function findRecipient(
  db: Reader,
  broadcast: Broadcast,
  audience: AudienceQuery | undefined,
  id: ContactId,
): Promise<Found> {
  const contact = await getContact(db, broadcast.organizationId, id)
  if (broadcast.startedAt) {
    const frozen = await findFrozen(db, broadcast, id)
    const isIncluded = frozen !== undefined && included.includes(frozen.status)
    return { contact, isIncluded, variant: frozen?.variant ?? null, sent: await findSentEmail(db, broadcast, id) }
  }
  const isIncluded = audience !== undefined && (await selectAudience(db, audience, rangeOf(id), 1)).length > 0
  return { contact, isIncluded, variant: null, sent: undefined }
}

type Shown = EmailBody & Pick<BroadcastPreview, 'subject' | 'missing'>

async function showSent(
  runner: TemplateRunner,
  broadcast: Broadcast,
  version: ReadyVersion,
  sent: SentEmail,
): Promise<Shown> {
  const body = await showMail(runner, version, { ...sent, flowKind: kindOf(broadcast) })
  return { ...body, subject: sent.subject, missing: [] }
}

async function showDraft(
  runner: TemplateRunner,
  broadcast: Broadcast,
  version: ReadyVersion,
  { organizationName }: FlowOfBroadcast,
  contact: Omit<Contact, 'id'>,
): Promise<Shown> {
  const { context, now } = broadcast
  const values = draftValues(contact, organizationName, context, now.getTime())
  const { subject, missing, recipient } = await runner.draft(version, values)
  const row = { email: contact.email, recipient, context, queuedAt: now, flowKind: kindOf(broadcast) }
  return { ...(await showMail(runner, version, row)), subject: missing.length > 0 ? null : subject, missing }
}
