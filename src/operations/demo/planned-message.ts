import type { BroadcastId, ContactId, FlowId, FlowVersionId, MessageId } from '../../platform/values/ids.ts'

export type PastFlow = {
  id: FlowId
  versionId: FlowVersionId
  kind: 'transactional' | 'marketing'
  /** Returns the subject, the context and the clicked URL of the nth message. */
  messageOf: (n: number) => { subject: string; context: object; url: string }
}
/** `sinceMs`: when the contact was added; always before the first email if it is not set. */
export type Recipient = { id: ContactId; email: string; firstName?: string; sinceMs?: number }

/** An email, and how likely a person opens it. */
export type PlannedMessage = {
  id: MessageId
  flow: PastFlow
  contact: Recipient
  atMs: number
  bounce: 'soft' | 'hard' | null
  subject: string
  context: object
  url: string
  openRate: number
  broadcastId: BroadcastId | null
}
