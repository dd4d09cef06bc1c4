import { type BounceReport, type BounceResult, classifyBounce } from '@waxwing/bounce-classifier'
import type { Db } from '../db/db.ts'
import type { EventRecorder } from '../events/record.ts'
import { newId } from '../ids.ts'
import type { BounceMail } from '../mail/bounce-listener.ts'
import type { Hints } from '../queue/hints.ts'
import type { Tokens } from '../tokens.ts'
import { findReported, localPart } from './correlate.ts'
import { findMessages } from './tracking.sql.ts'
import { recordUnsubscription } from './unsubscribe.ts'
import { isComplaint, recordVerdicts, type Verdict } from './verdicts.ts'

export type BounceMailParts = { db: Db; hints: Hints; tokens: Tokens; events: EventRecorder }

/** The addresses at which mail is taken: those that we signed. */
export function isOurAddress(tokens: Tokens, address: string): boolean {
  const local = localPart(address)
  return Boolean(tokens.verify('bounce', local) ?? tokens.verify('unsubscribe_by_mail', local))
}

/** Takes in one mail of the bounce listener. Resolves when all that follows from it is committed. */
export async function takeBounceMail(parts: BounceMailParts, mail: BounceMail): Promise<void> {
  const locals = [...new Set(mail.recipients.map(localPart))]
  const leaving = locals.flatMap((local) => parts.tokens.verify('unsubscribe_by_mail', local) ?? [])
  // A program that answers or returns mails writes without a sender: that is nobody's wish.
  if (leaving.length > 0 && mail.sender !== '') await unsubscribeByMail(parts, leaving)

  const bounced = locals.filter((local) => parts.tokens.verify('bounce', local))
  if (bounced.length === 0) return
  const report = await classifyBounce(mail.raw)
  for (const local of bounced) await recordBounce(parts, local, report)
}

async function unsubscribeByMail(parts: BounceMailParts, keys: Parameters<typeof findMessages>[1]): Promise<void> {
  for (const { id: messageId, organizationId, flowId, contactId } of await findMessages(parts.db, keys)) {
    const about = { organizationId, messageId, flowId, contactId }
    await recordUnsubscription(parts, { ...about, id: newId('evt'), method: 'one_click', occurredAt: new Date() })
  }
}

/** The envelope's address names the message; what else the mail tells counts where that message is gone. */
async function recordBounce(parts: BounceMailParts, local: string, report: BounceReport): Promise<void> {
  const clues = {
    signed: [local, ...report.returnAddresses],
    messageIds: report.originalMessageId ? [report.originalMessageId] : [],
    queueIds: report.queueIds,
  }
  const [message] = await findReported(parts.db, parts.tokens, [clues])
  const verdict = message && verdictOn(message.email, report.results)
  if (verdict) await recordVerdicts(parts.events, [{ message, occurredAt: new Date(), verdict }])
}

/**
 * A mail went to one address. Behind a forwarder it is another that bounces, so any result will do. News of a delay is
 * none: whoever sent it is still trying, and will tell how it ends. Nor is a report that nobody complained in.
 */
function verdictOn(email: string, results: BounceResult[]): Verdict | undefined {
  const told = results.filter(
    ({ kind, reason, feedbackType = 'abuse' }) => kind !== 'none' && reason !== 'delayed' && isComplaint(feedbackType),
  )
  const result = told.find(({ recipient }) => recipient === email.toLowerCase()) ?? told[0]
  if (!result) return undefined
  const { kind, status, replyCode, reason, diagnostic } = result
  return kind === 'hard' || kind === 'soft'
    ? { kind: 'bounce', bounce: { type: kind, status, reply_code: replyCode, reason, diagnostic } }
    : { kind: 'complaint', feedbackType: result.feedbackType ?? 'abuse' }
}
