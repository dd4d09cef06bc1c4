import { findReplyCode, findStatus } from './codes.ts'
import type { Command } from './commands.ts'
import type { BounceKind, BounceReason } from './reasons.ts'
import { type Confidence, judge } from './verdict.ts'

/** Longer replies are cut: they are classified between other work. A line of a reply has at most 512 bytes (RFC 5321). */
const replyCharsMax = 1_000

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
  text: reply,
  recipient = null,
  command = 'rcpt',
}: SmtpReply): ReplyVerdict {
  const text = reply.slice(0, replyCharsMax)
  const codes = {
    status: status ? findStatus(status) : findStatus(text),
    replyCode: replyCode ?? findReplyCode(text),
  }
  return {
    ...judge({ ...codes, recipient, command, texts: [text], checksRecipients: false, delayed: false }),
    ...codes,
  }
}
