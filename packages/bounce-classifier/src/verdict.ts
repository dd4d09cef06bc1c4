import { hidesFilters } from './carriers.ts'
import { isVague } from './codes.ts'
import type { Command } from './commands.ts'
import { findPhrase, type PhraseMatch, quoteCode, quotePhrase } from './find-phrase.ts'
import { type BounceKind, type BounceReason, kindOfReason } from './reasons.ts'
import { reasonOfReply, reasonOfStatus } from './status-reasons.ts'

/** Everything known about one refusal, from a report or from the relay's own reply. */
export type Evidence = {
  recipient: string | null
  status: string | null
  replyCode: number | null
  /** The SMTP command that was refused, where known. */
  command: Command | null
  /** The words about the refusal, best source first: the receiving server's reply, then the reporting server's words. */
  texts: readonly string[]
  /** The reporting system says "no such user" only for refused recipients. See `reporters.ts`. */
  checksRecipients: boolean
  /** The report announces further delivery attempts. */
  delayed: boolean
}

export type Confidence = 'high' | 'medium' | 'low'

export type Verdict = {
  kind: BounceKind
  reason: BounceReason
  /** A verdict of low confidence is always soft. */
  confidence: Confidence
  /** The line that decided, as it was written. Null if there is none. */
  evidence: string | null
}

/** Decides by the words, then by the status, then by the reply code. */
export function judge(evidence: Evidence): Verdict {
  const found = findWords(evidence)
  const evidenceLine = quoteOf(evidence, found)
  if (evidence.delayed) return { kind: 'soft', reason: 'delayed', confidence: 'high', evidence: evidenceLine }
  const { reason, confidence } = reasonOf(evidence, found?.match ?? null)
  const isHard = kindOfReason[reason] === 'hard' && confidence !== 'low' && !isTemporary(evidence)
  return {
    kind: isHard ? 'hard' : 'soft',
    reason,
    confidence: isTemporary(evidence) ? 'high' : confidence,
    evidence: evidenceLine,
  }
}

type Judgement = { reason: BounceReason; confidence: Confidence }

function reasonOf(evidence: Evidence, match: PhraseMatch | null): Judgement {
  const byStatus = evidence.status ? reasonOfStatus(evidence.status) : null
  if (!match) return byCodes(evidence, byStatus)
  const said = match.rule.reason
  if (kindOfReason[said] === 'soft') {
    // A vague or technical wording does not contradict a status that names the address.
    const contradicts = match.rule.temporary || !compatibleWithAddressStatus.has(said)
    if (byStatus && kindOfReason[byStatus] === 'hard' && !contradicts) {
      return { reason: byStatus, confidence: 'medium' }
    }
    return { reason: said, confidence: byStatus === said ? 'high' : 'medium' }
  }
  return byAddressWords(evidence, match, byStatus)
}

function byCodes({ replyCode }: Evidence, byStatus: BounceReason | null): Judgement {
  if (byStatus && byStatus !== 'undetermined') return { reason: byStatus, confidence: 'medium' }
  return { reason: reasonOfReply(replyCode), confidence: 'low' }
}

/** The words blame the address. The context may show that something else is meant. */
function byAddressWords(evidence: Evidence, { rule }: PhraseMatch, byStatus: BounceReason | null): Judgement {
  const said = rule.reason
  const statusAgrees = byStatus !== null && kindOfReason[byStatus] === 'hard'
  if (hidesFilters(evidence.recipient) && !isRefusedByCarrier(evidence))
    return { reason: 'filtered', confidence: 'medium' }
  if (statusAgrees) return { reason: byStatus, confidence: 'high' }
  if (rule.vague && byStatus && byStatus !== 'undetermined') return { reason: byStatus, confidence: 'medium' }
  if (said === 'mail_not_accepted') return { reason: said, confidence: 'high' }
  if (isAboutSender(evidence)) return { reason: soft(byStatus) ?? 'sender_refused', confidence: 'medium' }
  if (said !== 'user_unknown') return { reason: said, confidence: 'high' }
  if (rule.sure) return { reason: said, confidence: 'high' }
  // A server that accepted RCPT and says "user unknown" after DATA knows the user and filters the mail.
  if (evidence.command === 'data') return { reason: 'filtered', confidence: 'medium' }
  if (evidence.command === 'rcpt') return { reason: said, confidence: 'high' }
  return { reason: said, confidence: isStageUnknown(evidence) ? 'low' : 'medium' }
}

/** Docomo and SoftBank write 5.1.1 for unknown users and 5.2.0 for filtered mail. Au leaves out the address if it filters. */
function isRefusedByCarrier({ status, command, texts }: Evidence): boolean {
  return (
    command === 'rcpt' || (status === '5.1.1' && command === null && !texts.some((text) => addressLeftOut.test(text)))
  )
}

const addressLeftOut = /(?:^|[\s>])5\d\d:? : ?(?:user unknown|unknown user)/i

const soft = (reason: BounceReason | null) => (reason && kindOfReason[reason] === 'soft' ? reason : null)

/** 4.x.x and 4xx allow another attempt. A relay that gives up after them does not know that the address is wrong. */
function isTemporary({ status, replyCode }: Evidence): boolean {
  if (status !== null && !isVague(status)) return status.startsWith('4')
  return status?.startsWith('4') || (replyCode !== null && replyCode >= 400 && replyCode < 500)
}

/** Refused before a recipient was named, or with a status about the sender, the content or a policy. */
function isAboutSender({ status, command }: Evidence): boolean {
  if (command === 'connect' || command === 'helo' || command === 'mail') return true
  if (status === null) return false
  if (/^5\.(?:1\.[789]|6\.\d{1,3})$/.test(status)) return true
  return /^5\.7\./.test(status) && command !== 'rcpt'
}

/**
 * Returns true if the report would show the reply to be about the recipient, but does not: a relay that adds a status of its
 * own writes 5.1.1 for a refused recipient and 5.0.0 or 5.2.0 otherwise, Postfix and Exim name the refused command, and a
 * notice without any code may be the template of a filter.
 */
function isStageUnknown({ status, replyCode, texts, checksRecipients }: Evidence): boolean {
  if (checksRecipients) return false
  if (status === null && replyCode === null) return true
  if (status !== null && /^5\.[02]\./.test(status)) return true
  return texts.some((text) => namesCommands.test(text))
}

const namesCommands =
  /\bhost\s{1,8}\S{1,255}\[[\da-f.:]{2,45}\]\s{1,8}said:|created\s{1,8}automatically\s{1,8}by\s{1,8}mail\s{1,8}delivery\s{1,8}software/i

const compatibleWithAddressStatus: ReadonlySet<BounceReason> = new Set<BounceReason>([
  'filtered',
  'system',
  'protocol',
  'expired',
  'content',
  'mailbox_suspended',
  'undetermined',
])

type Found = { match: PhraseMatch; text: string }

/** Finds a phrase in the best source that contains one. If two sources disagree about a mailbox, the milder one counts. */
function findWords({ status, texts }: Evidence): Found | null {
  const statusIsSpecific = status !== null && !status.endsWith('.0')
  const sources = statusIsSpecific ? texts.slice(0, 1) : texts
  const found = sources.flatMap((text) => {
    const match = findPhrase(text)
    return match ? [{ match, text }] : []
  })
  const [first] = found
  if (first?.match.rule.reason !== 'user_unknown') return first ?? null
  return found.find(({ match }) => milder.has(match.rule.reason)) ?? first
}

const milder: ReadonlySet<BounceReason> = new Set<BounceReason>(['mailbox_full', 'mailbox_suspended'])

function quoteOf({ status, replyCode, texts }: Evidence, found: Found | null): string | null {
  if (found) return quotePhrase(found.text, found.match.phrase)
  for (const code of [status, replyCode?.toString()]) {
    for (const text of code ? texts : []) {
      const line = quoteCode(text, code!)
      if (line) return line
    }
  }
  return null
}
