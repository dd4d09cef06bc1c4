import { isVague } from './codes.ts'
import type { Command } from './commands.ts'
import { findPhraseRule } from './find-phrase.ts'
import type { PhraseRule } from './phrase-list.ts'
import { type BounceKind, type BounceReason, kindOfReason } from './reasons.ts'
import { reasonOfReply, reasonOfStatus } from './status-reasons.ts'

/** All that is known of one refusal, from a report or straight from a relay. */
export type Evidence = {
  status: string | null
  replyCode: number | null
  /** The SMTP command that was refused, where known. */
  command: Command | null
  /** What was said of it, best first: the first that a phrase is found in decides. */
  texts: readonly string[]
  /** The report says that it will be tried again. */
  delayed: boolean
}

export type Verdict = { kind: BounceKind; reason: BounceReason }

/** Decides by phrase, then by status, then by reply code. */
export function judge(evidence: Evidence): Verdict {
  if (evidence.delayed) return { kind: 'soft', reason: 'delayed' }
  const reason = reasonOf(evidence)
  return { kind: isTemporary(evidence) ? 'soft' : kindOfReason[reason], reason }
}

function reasonOf(evidence: Evidence): BounceReason {
  const byStatus = evidence.status ? reasonOfStatus(evidence.status) : null
  const rule = findRule(evidence)
  if (!rule) return byStatus ?? reasonOfReply(evidence.replyCode)
  if (byStatus && kindOfReason[byStatus] === 'hard') {
    return overrulesAddressStatus.has(rule.reason) ? rule.reason : byStatus
  }
  if (kindOfReason[rule.reason] === 'soft') return rule.reason
  if (isAboutSender(evidence) && rule.reason !== 'mail_not_accepted') return byStatus ?? 'sender_refused'
  if (rule.reason === 'user_unknown' && !rule.sure && !isAboutAddress(evidence)) return 'filtered'
  return rule.reason
}

/** 4.x.x and 4xx ask for another try; whoever gives up on them has not learnt that the address is wrong. */
function isTemporary({ status, replyCode }: Evidence): boolean {
  if (status !== null && !isVague(status)) return status.startsWith('4')
  return status?.startsWith('4') || (replyCode !== null && replyCode >= 400 && replyCode < 500)
}

// A server that took RCPT and says "user unknown" later knows the user and filters the mail.
function isAboutAddress({ status, command }: Evidence): boolean {
  return command === 'rcpt' || (status !== null && /^5\.1\./.test(status))
}

/** Refused before a recipient was named, or with a status that speaks of sender, content or policy. */
function isAboutSender({ status, command }: Evidence): boolean {
  if (command === 'connect' || command === 'helo' || command === 'mail') return true
  return status !== null && /^5\.(?:1\.[789]$|[67]\.)/.test(status)
}

const overrulesAddressStatus: ReadonlySet<BounceReason> = new Set<BounceReason>([
  'mailbox_full',
  'rate_limited',
  'blocked',
  'authentication',
  'spam',
  'relaying_denied',
  'sender_refused',
  'recipient_refused',
])

/** Where the status tells, only the best text counts. Where two texts disagree on a mailbox, the milder one does. */
function findRule({ status, texts }: Evidence): PhraseRule | undefined {
  const statusTells = status !== null && !status.endsWith('.0')
  const rules = (statusTells ? texts.slice(0, 1) : texts).flatMap((text) => findPhraseRule(text) ?? [])
  const milder = rules.find(({ reason }) => reason === 'mailbox_full' || reason === 'mailbox_suspended')
  return rules[0]?.reason === 'user_unknown' ? (milder ?? rules[0]) : rules[0]
}
