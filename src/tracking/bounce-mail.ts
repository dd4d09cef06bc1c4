import type { BounceReport, BounceResult } from '@waxwing/bounce-classifier'
import type { Db } from '../db/db.ts'
import type { EventRecorder } from '../events/record.ts'
import type { ReceivedMail } from '../mail/bounce-listener.ts'
import type { Hints } from '../queue/hints.ts'
import type { Log } from '../runtime/log.ts'
import type { AddressIds, Tokens } from '../secrets/tokens.ts'
import { TaskLimitExceeded, type TaskPool } from '../tasks/pool.ts'
import { Refusal } from '../values/errors.ts'
import { newId } from '../values/ids.ts'
import { classifyBounceMail } from './classify-bounce.task.ts'
import { findReported, localPart } from './correlate.ts'
import { findMessages } from './tracking.sql.ts'
import { recordUnsubscription } from './unsubscribe.ts'
import { isComplaint, recordVerdicts, type Verdict } from './verdicts.ts'

export type BounceMailParts = {
  db: Db
  hints: Hints
  tokens: Tokens
  events: EventRecorder
  tasks: TaskPool
  log: Log
}

/** The addresses at which mail is taken: those that we signed. */
export function isOurAddress(tokens: Tokens, address: string): boolean {
  const local = localPart(address)
  return Boolean(tokens.verify('bounce', local) ?? tokens.verify('unsubscribe_by_mail', local))
}

/** Takes in one mail of the bounce listener. Resolves when all that follows from it is committed. */
export async function takeBounceMail(parts: BounceMailParts, mail: ReceivedMail): Promise<void> {
  const locals = [...new Set(mail.recipients.map(localPart))]
  const leaving = locals.flatMap((local) => parts.tokens.verify('unsubscribe_by_mail', local) ?? [])
  // A program that answers or returns mails writes without a sender: that is nobody's wish.
  if (leaving.length > 0 && mail.sender !== '') await unsubscribeByMail(parts, leaving)

  const bounced = locals.flatMap((local) => {
    const ids = parts.tokens.verify('bounce', local)
    return ids ? [{ local, ids }] : []
  })
  const [first] = bounced
  const report = first && (await classify(parts, first.ids, mail.raw))
  if (!report) return
  for (const { local } of bounced) await recordBounce(parts, local, report)
}

/**
 * In a task process, since anybody who received a mail can send a bounce of any shape. Returns undefined if the mail takes
 * more time or memory than it may, or cannot be classified at all: a retry would end the same way, so it is accepted and what
 * it means stays undetermined.
 */
async function classify(
  { tasks, log }: BounceMailParts,
  { organizationId, messageId }: AddressIds,
  raw: Buffer,
): Promise<BounceReport | undefined> {
  try {
    // The listener bounds how many mails it has in hand, so they may wait for their turn.
    return await tasks.run(classifyBounceMail, { organizationId, input: raw, whenFull: 'wait' })
  } catch (error) {
    if (error instanceof Refusal && !(error instanceof TaskLimitExceeded)) throw error
    log.warn({ err: error, messageId, bytes: raw.length }, 'A bounce mail could not be classified and is undetermined')
    return undefined
  }
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
  const { kind, status, replyCode, reason, diagnostic, confidence, evidence } = result
  return kind === 'hard' || kind === 'soft'
    ? {
        kind: 'bounce',
        bounce: { type: kind, status, reply_code: replyCode, reason, diagnostic, confidence, evidence },
      }
    : { kind: 'complaint', feedbackType: result.feedbackType ?? 'abuse' }
}
