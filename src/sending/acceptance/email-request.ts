import type { BuiltInFlow } from '../../content/content.ts'
import type { EmailAddress } from '../../platform/values/email.ts'
import type { Refusal } from '../../platform/values/errors.ts'
import type { FlowKind } from '../../platform/values/flow-kind.ts'
import type { EmailId, MessageId, OrganizationId } from '../../platform/values/ids.ts'
import type { Tag } from '../attachments/content.ts'
import type { ContentToWrite, NewContent } from '../attachments/contents.ts'
import type { DraftToWrite } from './write-messages.ts'

/** An email without a flow. Each recipient, whether in To, Cc or Bcc, gets a message. */
export type EmailRequest = {
  kind: FlowKind
  /** Each address once. */
  recipients: readonly EmailAddress[]
  /** A key for each recipient. Nothing is sent to one whose key was used within 24 hours: its message is returned again. */
  recipientKeys?: readonly string[]
  /** Identifies the content, to detect keys that are used again for another email. Set if there are keys. */
  contentHash?: string
  subject: string
  tags: readonly Tag[]
  /** In the future, or null. */
  sendAt: Date | null
  content: NewContent
}

/** Emails that were submitted together. */
export type EmailSubmission = {
  organizationId: OrganizationId
  /** A rejected one (`Refusal`) has its place in the results. */
  emails: readonly (EmailRequest | Refusal)[]
  /** If one is rejected, none is accepted. */
  isAtomic: boolean
  /** Covers all messages. Keys of users have visible characters only. */
  idempotencyKey: string | null
  requestHash: string | null
}

export type AcceptedMessage = {
  id: MessageId
  email: string
  status: 'queued' | 'scheduled' | 'suppressed'
  reason: string | null
}
export type EmailResult = { ok: true; id: EmailId; messages: AcceptedMessage[] } | { ok: false; error: Refusal }
export type AcceptedEmails = { results: EmailResult[]; replayed: boolean }

export type Item = EmailSubmission & { flows: ReadonlyMap<FlowKind, BuiltInFlow> }
export type Pending = { item: Item; index: number }
/** The drafts and the content of an email. */
export type DraftedEmail = { id: EmailId; drafts: DraftToWrite[]; messages: AcceptedMessage[]; content: ContentToWrite }
export type DraftedItem = Pending & { emails: DraftedEmail[]; results: EmailResult[] }
