import type { ReadyVersion } from '../../content/content.ts'
import type { EmailAddress } from '../../platform/values/email.ts'
import { Refusal } from '../../platform/values/errors.ts'
import type { FlowKind } from '../../platform/values/flow-kind.ts'
import type { ContactId, EmailId, FlowId, MessageId, OrganizationId } from '../../platform/values/ids.ts'
import type { Tag } from '../attachments/content.ts'
import type { NewContent } from '../attachments/contents.ts'

/** Emails that arrive together, whether over HTTP, by SMTP or from the web app. */
export type Submission = {
  organizationId: OrganizationId
  /** A rejected one (`Refusal`) has its place in the results. */
  emails: readonly (NewEmail | Refusal)[]
  /** Whether all emails are rejected if one of them is. A single email is always accepted whole or not at all. */
  isAtomic: boolean
  /** Covers all emails. */
  key: IdempotencyKey | null
}

/** Used for one request within 24 hours. Repeated requests get the first results again. */
export type IdempotencyKey = {
  /** Keys of users have visible characters only. */
  value: string
  /** Identifies the request, to detect a key that is used again for another one. */
  requestHash: string
}

/** Each recipient, whether in To, Cc or Bcc, gets a message. */
export type NewEmail = FlowEmail | OwnEmail

type Envelope = {
  /** Each address once. */
  recipients: readonly NewRecipient[]
  /** In the future, or null. */
  sendAt: Date | null
}

/** `key`: nothing is sent to a recipient whose key was used. Its message is returned again. */
export type NewRecipient = EmailAddress & { key?: IdempotencyKey | undefined }

export type FlowEmail = Envelope & {
  source: 'flow'
  flowId: FlowId
  context: Record<string, unknown>
  /** The context as JSON text. */
  contextText: string
  /** The attachments. */
  content: NewContent | null
  test: TestOptions | null
}

/** A test email is also sent if the flow is paused. It creates no contacts, counts in no metrics and triggers no webhooks. */
export type TestOptions = {
  /** Sent instead of the published version. */
  version: ReadyVersion
  /** The parameters that are added to links, instead of those of the version. */
  utmQuery?: string | undefined
}

/** An email without a flow. */
export type OwnEmail = Envelope & {
  source: 'content'
  kind: FlowKind
  subject: string
  tags: readonly Tag[]
  content: NewContent
}

export type Accepted = {
  /** In the order of the emails. */
  results: EmailResult[]
  /** Whether these are the results of an earlier submission with the same key. */
  isReplayed: boolean
}

export type EmailResult = { ok: true; email: AcceptedEmail } | { ok: false; error: Refusal }

export type AcceptedEmail = {
  /** Null if everything comes from a flow. */
  id: EmailId | null
  queuedAt: Date
  sendAt: Date | null
  /** In the order of the recipients. */
  messages: AcceptedMessage[]
}

export type AcceptedMessage = {
  id: MessageId
  /** Null for a test email to an address without a contact. */
  contactId: ContactId | null
  contactCreated: boolean
  email: string
  status: 'queued' | 'scheduled' | 'suppressed'
  reason: string | null
  warnings: string[]
}

/** The key as it is unique among all organizations. */
export const keyName = (organizationId: OrganizationId, key: string): string => `${organizationId} ${key}`

/** All keys of a submission: its own, or those of its recipients. */
export const keysOf = ({ key, emails }: Submission): readonly IdempotencyKey[] =>
  key
    ? [key]
    : emails.flatMap((email) =>
        email instanceof Refusal ? [] : email.recipients.flatMap((recipient) => recipient.key ?? []),
      )

export const keyReused = () =>
  new Refusal('idempotency_key_reused', 'This Idempotency-Key was used with a different request. Use a new key.')

/** Messages that are accepted in one transaction. A file counts as ten of them, and 2 KB of content as one. */
export const weightMax = 500
const fileWeight = 10
const bytesPerWeight = 2_048

/**
 * Requests that are too heavy for a batch are accepted alone: up to 1,000 messages, or some megabytes of content. Each uses
 * a connection for about a second.
 */
export const heavy = { perOrganization: 1, overall: 3, waitingPerOrganization: 100, waitMs: 20_000 }

/** What accepting a submission costs, compared with a message without content. */
export const weightOf = (submission: Submission): number =>
  sumOf(submission, ({ recipients, content }) => {
    if (!content) return recipients.length
    const { html, text, files } = content
    let bytes = (html?.length ?? 0) + (text?.length ?? 0)
    for (const file of files) bytes += file.content?.length ?? 0
    return recipients.length + files.length * fileWeight + Math.floor(bytes / bytesPerWeight)
  })

export const messagesIn = (submission: Submission): number => sumOf(submission, ({ recipients }) => recipients.length)

export const fileBytesIn = (submission: Submission): number =>
  sumOf(submission, ({ content }) => content?.files.reduce((sum, { bytes }) => sum + bytes, 0) ?? 0)

function sumOf({ emails }: Submission, count: (email: NewEmail) => number): number {
  let sum = 0
  for (const email of emails) if (!(email instanceof Refusal)) sum += count(email)
  return sum
}
