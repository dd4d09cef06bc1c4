import { createHash } from 'node:crypto'
import { loadHtmlToText } from '../../content/content.ts'
import type { Formats } from '../../platform/db/formats.ts'
import { Pacer } from '../../platform/runtime/pacer.ts'
import type { Stage } from '../../platform/runtime/stage.ts'
import type { TaskPool } from '../../platform/tasks/pool.ts'
import { invalid, Refusal } from '../../platform/values/errors.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import { derivedTextSince } from '../attachments/content.ts'
import { emailTextTask } from '../attachments/email-text.task.ts'
import type { Uploads } from '../attachments/uploads.ts'
import type { Acceptor, AcceptorParts } from './accept.ts'
import type { ReceivedFiles } from './attachment-input.ts'
import { addressesIn, type EmailInput, parseEmailInput } from './email-input.ts'
import type { Accepted, AcceptedEmail, OwnEmail } from './submission.ts'

export type EmailParts = {
  acceptor: Acceptor
  uploads: Uploads
  senders: AcceptorParts['senders']
  tasks: TaskPool
  formats: Pick<Formats, 'mayWrite'>
  requests: Stage
}

export type EmailInputs = {
  organizationId: OrganizationId
  /** A refusal in place of an input that is not valid. */
  inputs: readonly (EmailInput | Refusal)[]
  files: ReceivedFiles
  /** If one email is rejected, none is accepted, and the refusal is thrown. */
  isAtomic: boolean
  idempotencyKey: string | null
}

/** Deriving a text from less HTML takes a millisecond at most, and from this much up to ten. From more, it is derived later. */
const htmlOfOneTurn = { length: 2_000, tags: 200 }
const htmlInline = { length: 20_000, tags: 500 }
export const batchRecipientsMax = 1_000

/** Validates and accepts emails without a flow. Of requests that take long to read, few are read at the same time. */
export async function submitEmails(
  parts: EmailParts,
  submission: EmailInputs,
): Promise<Accepted & { warnings: string[][] }> {
  const { organizationId, inputs, isAtomic, idempotencyKey } = submission
  checkRecipients(inputs)
  const read = () => readEmails(parts, submission)
  const derivesLater = parts.formats.mayWrite(derivedTextSince)
  const isLight = inputs.length <= lightEmailsMax && inputs.every((email) => isLightEmail(email, derivesLater))
  const { emails, warnings, requestHash } = await (isLight ? read() : parts.requests.run(organizationId, read))
  const key = idempotencyKey === null ? null : { value: idempotencyKey, requestHash }
  const accepted = await parts.acceptor.accept({ organizationId, emails, isAtomic, key })
  return { ...accepted, warnings }
}

/** Accepts one email without a flow. Throws `Refusal` if it is rejected. */
export async function submitEmail(
  parts: EmailParts,
  { input, ...submission }: Omit<EmailInputs, 'inputs' | 'isAtomic'> & { input: EmailInput },
): Promise<{ email: AcceptedEmail; warnings: string[]; isReplayed: boolean }> {
  const { results, warnings, isReplayed } = await submitEmails(parts, {
    ...submission,
    inputs: [input],
    isAtomic: true,
  })
  const [result] = results
  if (!result?.ok) throw result?.error ?? new Error('An email has no result.')
  return { email: result.email, warnings: warnings[0] ?? [], isReplayed }
}

/** Reading and hashing the text of a light email takes a millisecond at most. */
const lightEmailsMax = 10
const lightLengthMax = 100_000

const isLightEmail = (email: EmailInput | Refusal, derivesLater: boolean): boolean =>
  email instanceof Refusal ||
  ((email.html?.length ?? 0) + (email.text?.length ?? 0) <= lightLengthMax &&
    (derivesLater || !email.html || typeof email.text === 'string' || isWithin(email.html, htmlInline)))

type ReadEmails = { emails: (OwnEmail | Refusal)[]; warnings: string[][]; requestHash: string }

/**
 * Yields to the event loop between emails, and before anything that takes milliseconds: a request may have a hundred emails
 * of any form.
 */
async function readEmails(
  parts: EmailParts,
  { organizationId, inputs, files, isAtomic, idempotencyKey }: EmailInputs,
): Promise<ReadEmails> {
  const warnings: string[][] = []
  const emails: (OwnEmail | Refusal)[] = []
  const pacer = new Pacer(organizationId)
  for (const [index, input] of inputs.entries()) {
    if (pacer.isDue) await pacer.turn()
    try {
      if (input instanceof Refusal) throw input
      const parsed = parseEmailInput(input, files)
      warnings[index] = parsed.warnings
      emails.push(parsed.needsText ? await withText(parts, organizationId, parsed.request, pacer) : parsed.request)
    } catch (error) {
      if (isAtomic || !(error instanceof Refusal) || error.type === 'unavailable')
        throw error instanceof Refusal && inputs.length > 1 ? atIndex(error, index) : error
      warnings[index] = []
      emails.push(error)
    }
  }
  const requestHash = idempotencyKey === null ? '' : await hashOfAll(inputs, files, isAtomic, pacer)
  return { emails, warnings, requestHash }
}

/** In a request with several emails, the fields of a problem start with the position of the email. */
function atIndex({ type, message, fields, retryAfterSeconds }: Refusal, index: number): Refusal {
  const moved = fields.map((field) => ({ ...field, path: `${index}.${field.path}` }))
  const details = { fields: moved, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) }
  return new Refusal(type, `Email ${index}: ${message}`, details)
}

/** Before anything is parsed, so that addresses count as they are listed. */
function checkRecipients(inputs: readonly (EmailInput | Refusal)[]): void {
  const recipients = inputs.reduce((sum, input) => sum + (input instanceof Refusal ? 0 : addressesIn(input)), 0)
  if (recipients > batchRecipientsMax)
    throw invalid({ path: 'body', problem: `must have at most ${batchRecipientsMax} recipients` })
}

/**
 * Derives the text of an email, or leaves it to the job that sends it, which may wait for a task process. Until all running
 * processes know such emails, a request waits for it. Of an email that will be refused, no text is needed.
 */
async function withText(
  { tasks, formats, senders }: EmailParts,
  organizationId: OrganizationId,
  request: OwnEmail,
  pacer: Pacer,
): Promise<OwnEmail> {
  const { content } = request
  const { html, details } = content
  if (html === null) return request
  const withDerived = (text: string) => ({ ...request, content: { ...content, text } })
  if (isWithin(html, htmlOfOneTurn)) return withDerived((await loadHtmlToText())(html))
  const isHeavy = !isWithin(html, htmlInline)
  const sender = { organizationId, address: details.from?.email ?? null }
  if ((isHeavy && formats.mayWrite(derivedTextSince)) || !(await mayUse(senders, sender)))
    return { ...request, content: { ...content, details: { ...details, derivesText: true } } }
  if (isHeavy) return withDerived(await tasks.run(emailTextTask, { organizationId, input: html }))
  await pacer.turn()
  return withDerived((await loadHtmlToText())(html))
}

/** The answer to a request with a sender that may not be used is found later: it may be a repeated one. */
async function mayUse(
  senders: EmailParts['senders'],
  sender: { organizationId: OrganizationId; address: string | null },
): Promise<boolean> {
  try {
    await senders.loadForCheck([sender])
    senders.checkLoaded(sender)
    return true
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return false
  }
}

function isWithin(html: string, max: { length: number; tags: number }): boolean {
  if (html.length > max.length) return false
  let tags = 0
  for (let at = html.indexOf('<'); at !== -1; at = html.indexOf('<', at + 1)) if (++tags > max.tags) return false
  return true
}

/** Hashes of single emails, because the text of all of them may have megabytes. */
async function hashOfAll(
  inputs: EmailInputs['inputs'],
  files: ReceivedFiles,
  isAtomic: boolean,
  pacer: Pacer,
): Promise<string> {
  const hashes: string[] = []
  for (const input of inputs) {
    if (pacer.isDue) await pacer.turn()
    hashes.push(hashOf(withHashes(input, files)))
  }
  return hashOf({ emails: hashes, isAtomic })
}

/** The input with the hashes of its files instead of their content. */
function withHashes(input: EmailInput | Refusal, files: ReceivedFiles): unknown {
  if (input instanceof Refusal) return input.message
  return {
    ...input,
    attachments: input.attachments?.map((attachment) => {
      const found = files(attachment.content)
      return { ...attachment, content: 'file' in found ? found.file.hash : found.problem }
    }),
  }
}

/** A hash of a parsed request, independent of the order of keys. */
export function hashOf(body: unknown): string {
  const sorted = (_key: string, value: unknown) =>
    value && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value
  return createHash('sha256').update(JSON.stringify(body, sorted)).digest('hex')
}
