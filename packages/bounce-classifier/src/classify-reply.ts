import { findReplyCode, findStatus } from './codes.ts'
import type { Command } from './commands.ts'
import type { BounceKind, BounceReason } from './reasons.ts'
import { type Confidence, judge } from './verdict.ts'

/** The reply of a relay. Codes that are left out are read from the text. */
export type SmtpReply = {
  replyCode?: number | null
  status?: string | null
  text: string
  recipient?: string | null
  /** The command that it answers. RCPT by default, where recipients are refused. */
  command?: Command
}

export type ReplyVerdict = {
  kind: BounceKind
  reason: BounceReason
  status: string | null
  replyCode: number | null
  /** A verdict of low confidence is always soft. */
  confidence: Confidence
  /** The line of the reply that decided. */
  evidence: string | null
}

/** The verdict on a refusal in our own SMTP session, by the same rules as for bounce mails. */
export function classifyReply({
  replyCode,
  status,
  text,
  recipient = null,
  command = 'rcpt',
}: SmtpReply): ReplyVerdict {
  const codes = {
    status: status ? findStatus(status) : findStatus(text),
    replyCode: replyCode ?? findReplyCode(text),
  }
  return {
    ...judge({ ...codes, recipient, command, texts: [text], checksRecipients: false, delayed: false }),
    ...codes,
  }
}
