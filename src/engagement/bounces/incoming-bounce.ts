import type { BounceReport, BounceResult } from '@waxwing/bounce-classifier'
import type { Senders } from '../../delivery/delivery.ts'
import type { Log } from '../../platform/runtime/log.ts'
import type { AddressIds, Tokens } from '../../platform/secrets/tokens.ts'
import { TaskLimitExceeded, type TaskPool } from '../../platform/tasks/pool.ts'
import { Refusal } from '../../platform/values/errors.ts'
import { newId } from '../../platform/values/ids.ts'
import { findMessages } from '../tracking/tracking.sql.ts'
import { recordUnsubscription } from '../tracking/unsubscribe.ts'
import type { ReceivedEmail } from './bounce-listener.ts'
import { classifyBounceTask } from './classify-bounce.task.ts'
import { findReported, localPart } from './correlate.ts'
import { isComplaint, recordVerdicts, type Verdict, type VerdictParts } from './verdicts.ts'

export type IncomingBounceParts = VerdictParts & {
  tokens: Tokens
  tasks: TaskPool
  log: Log
}

export type ReturnAddressParts = { tokens: Tokens; senders: Pick<Senders, 'isReturnPath'>; bounceDomain: string }

/**
 * Returns whether we created the address: we signed it, and its domain is ours or one of its organization. Email to other
 * addresses is rejected.
 */
export async function isReturnAddress(
  { tokens, senders, bounceDomain }: ReturnAddressParts,
  address: string,
): Promise<boolean> {
  const local = localPart(address)
  const ids = tokens.verify('bounce', local) ?? tokens.verify('unsubscribe_by_mail', local)
  if (!ids) return false
  const domain = address.slice(address.lastIndexOf('@') + 1)
  return domain === bounceDomain.toLowerCase() || senders.isReturnPath(ids.organizationId, domain)
}

/** Processes one email of the bounce listener. Resolves when everything that follows from it is committed. */
export async function processIncomingBounce(parts: IncomingBounceParts, mail: ReceivedEmail): Promise<void> {
  const locals = [...new Set(mail.recipients.map(localPart))]
  const leaving = locals.flatMap((local) => parts.tokens.verify('unsubscribe_by_mail', local) ?? [])
  // Automatic replies and bounces have an empty sender and do not express a wish to unsubscribe.
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
 * Runs in a task process, since anyone who received an email can send a bounce of any content. Returns undefined if the
 * email exceeds the limits of time or memory or cannot be classified: a retry would end the same way, so it is accepted
 * as undetermined.
 */
async function classify(
  { tasks, log }: IncomingBounceParts,
  { organizationId, messageId }: AddressIds,
  raw: Buffer,
): Promise<BounceReport | undefined> {
  try {
    // The listener limits the number of emails in progress, so they may wait for their turn.
    return await tasks.run(classifyBounceTask, { organizationId, input: raw, whenFull: 'wait' })
  } catch (error) {
    if (error instanceof Refusal && !(error instanceof TaskLimitExceeded)) throw error
    log.warn(
      { err: error, messageId, bytes: raw.length },
      'A bounce could not be classified and counts as undetermined',
    )
    return undefined
  }
}

async function unsubscribeByMail(parts: IncomingBounceParts, keys: Parameters<typeof findMessages>[1]): Promise<void> {
  const messages = (await findMessages(parts.db, keys)).filter(({ isTest }) => !isTest)
  for (const { id: messageId, organizationId, flowId, contactId } of messages) {
    const about = { organizationId, messageId, flowId, contactId }
    await recordUnsubscription(parts.db, { ...about, id: newId('evt'), method: 'one_click', occurredAt: new Date() })
  }
}

/**
 * The envelope address identifies the message. The other clues of the email are used if that message no longer exists.
 */
async function recordBounce(parts: IncomingBounceParts, local: string, report: BounceReport): Promise<void> {
  const clues = {
    signed: [local, ...report.returnAddresses],
    messageIds: report.originalMessageId ? [report.originalMessageId] : [],
    queueIds: report.queueIds,
  }
  const [message] = await findReported(parts.db, parts.tokens, [clues])
  const verdict = message && verdictOn(message.email, report.results)
  if (verdict) await recordVerdicts(parts, [{ message, occurredAt: new Date(), verdict }])
}

/**
 * Returns the verdict on the message. It was sent to one address, but with a forwarder another one bounces, so any
 * result counts. Delay notifications are ignored because the final outcome follows, and so are reports that are not
 * complaints.
 */
function verdictOn(email: string, results: BounceResult[]): Verdict | undefined {
  const relevant = results.filter(
    ({ kind, reason, feedbackType = 'abuse' }) => kind !== 'none' && reason !== 'delayed' && isComplaint(feedbackType),
  )
  const result = relevant.find(({ recipient }) => recipient === email.toLowerCase()) ?? relevant[0]
  if (!result) return undefined
  const { kind, status, replyCode, reason, diagnostic, confidence, evidence } = result
  return kind === 'hard' || kind === 'soft'
    ? {
        kind: 'bounce',
        bounce: { type: kind, status, reply_code: replyCode, reason, diagnostic, confidence, evidence },
      }
    : { kind: 'complaint', feedbackType: result.feedbackType ?? 'abuse' }
}
