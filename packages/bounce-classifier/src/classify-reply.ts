import { findReplyCode, findStatus } from './codes.ts'
import type { Command } from './commands.ts'
import type { BounceKind, BounceReason } from './reasons.ts'
import { type Confidence, judge } from './verdict.ts'

/** What a relay answered to us. Codes that are left out are looked for in the text. */
export type SmtpReply = {
  replyCode?: number | null
  status?: string | null
  text: string
  recipient?: string | null
  /** What it answered to. RCPT when left out: that is where a recipient is refused. */
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
