import { classifyReply } from '@waxwing/bounce-classifier'
import type { SendOutcome } from '@waxwing/smtp-client'
import { derivedEventId, type NewEvent } from '../../events/events.ts'
import type { BounceDetail } from '../../platform/values/event-types.ts'
import { simulatedBehaviour, simulatedBehaviours } from '../../platform/values/simulated-recipients.ts'
import type { Outcome, SendRow } from './send.sql.ts'

const jitter = 0.1
/** Reasons of queued emails. */
export const serverDownReason = 'mail server unavailable'
export const limitReason = 'limit reached'
export const deferredReason = 'deferred'
/** Delays before an email is rendered again whose task process died, for example because the system was out of memory. */
const renderRetryDelaysMs = [1_000, 4_000, 10_000]

/**
 * Why nothing was attempted. halted: sending was stopped. stale: what is known of the recipient is too old. unavailable: all mail
 * servers are, or what renders the email. needs task: the template is too slow for the main thread.
 */
export type Skip = { skip: 'halted' | 'stale' | 'unavailable' | 'needs task' }

/** An attempt that was made. `number`: how many were made before. */
type Tried = { message: { row: SendRow }; number: number; retryDelays: readonly number[] }

export const isSkip = (result: object): result is Skip => 'skip' in result

export const unavailable: Skip = { skip: 'unavailable' }

type ToOutcome = (outcome: Partial<Outcome> & Pick<Outcome, 'status'>, retryInMs?: number) => Outcome

export const end: ToOutcome = (outcome, retryInMs) => ({
  retryInMs: retryInMs ?? null,
  reason: null,
  relayReply: null,
  queueId: null,
  event: null,
  inbox: null,
  mailServerId: null,
  waiting: null,
  ...outcome,
})

/** The attempts of an email that the relay deferred count as well, so the limit is that of the longer schedule. */
export function renderingDied({ number, retryDelays }: Tried): Outcome {
  if (number >= Math.max(renderRetryDelaysMs.length, retryDelays.length))
    return end({ status: 'failed', reason: 'the process that rendered this email ended unexpectedly, several times' })
  const delayMs = renderRetryDelaysMs[number] ?? renderRetryDelaysMs.at(-1)!
  return end({ status: 'queued', reason: 'rendering was interrupted' }, withJitter(delayMs))
}

export function outcomeOf(outcome: SendOutcome, { message: { row }, number, retryDelays }: Tried): Outcome | Skip {
  switch (outcome.kind) {
    case 'accepted':
      return end({ status: 'sent', relayReply: outcome.reply, queueId: outcome.queueId, event: sentEvent(row) })
    case 'refused': {
      // A rejected sender is a configuration problem and not a bounce.
      if (outcome.stage === 'sender')
        return end({ status: 'failed', reason: 'the mail server rejected the sender', relayReply: outcome.reply })
      const { kind, reason, confidence, evidence } = classifyReply({
        replyCode: outcome.replyCode,
        status: outcome.status,
        text: outcome.reply,
        // The relay accepted the recipient, so the rejection concerns the content.
        command: outcome.stage === 'data' ? 'data' : 'rcpt',
      })
      const { replyCode, status, reply } = outcome
      const bounce = { type: kind, status, reply_code: replyCode, reason, diagnostic: reply, confidence, evidence }
      return end({ status: 'bounced', reason, relayReply: reply, event: bounceEvent(row, bounce) })
    }
    case 'deferred':
    case 'interrupted': {
      const response = outcome.kind === 'deferred' ? outcome.reply : outcome.reason
      const delay = retryDelays[number]
      if (delay !== undefined)
        return end({ status: 'queued', reason: deferredReason, relayReply: response }, withJitter(delay * 1000))
      const { status, replyCode } = outcome.kind === 'deferred' ? outcome : { status: null, replyCode: null }
      const bounce = {
        type: 'soft' as const,
        status,
        reply_code: replyCode,
        reason: 'deferred too often',
        diagnostic: response,
      }
      return end({ status: 'bounced', reason: bounce.reason, relayReply: response, event: bounceEvent(row, bounce) })
    }
    case 'unreachable':
      return unavailable
    case 'withdrawn':
      return { skip: outcome.skip as Skip['skip'] }
  }
}

const withJitter = (ms: number) => Math.round(ms * (1 - jitter + 2 * jitter * Math.random()))

function eventOf(row: SendRow, key: string, eventName: NewEvent['eventName'], data: NewEvent['data']): NewEvent {
  return {
    id: derivedEventId(row.id, key),
    organizationId: row.organizationId,
    eventName,
    occurredAt: new Date(),
    messageId: row.id,
    flowId: row.flowId,
    contactId: row.contactId,
    machine: false,
    machineReason: null,
    data: simulatedBehaviour(row.email) ? { ...data, is_test: true } : data,
  }
}
// A test email has no events: it does not count, and webhooks are not called.
export const sentEvent = (row: SendRow) => (row.isTest ? null : eventOf(row, 'sent', 'emailSent', {}))
/** The same event that a bounce email or a provider webhook would record. */
export function bounceEvent(row: SendRow, bounce: BounceDetail): NewEvent | null {
  if (row.isTest) return null
  const eventName = bounce.type === 'hard' ? 'emailHardBounce' : 'emailSoftBounce'
  return eventOf(row, eventName, eventName, { bounce })
}

const answer = (replyCode: number, status: string, text: string) => ({
  stage: 'recipient' as const,
  replyCode,
  status,
  reply: `${replyCode} ${status} ${text}`,
})

/** Returns what a mail server would answer for a reserved recipient, or undefined for all other addresses. */
export function simulatedOutcome(email: string, attempt: number): SendOutcome | undefined {
  const behaviour = simulatedBehaviour(email)
  switch (behaviour) {
    case undefined:
      return undefined
    case 'hard-bounce':
      return { kind: 'refused', ...answer(550, '5.1.1', 'No such user here (simulated)') }
    case 'soft-bounce':
      return { kind: 'refused', ...answer(552, '5.2.2', 'The mailbox is full (simulated)') }
    case 'deferred':
      if (attempt === 0) return { kind: 'deferred', ...answer(451, '4.7.1', 'Try again later (simulated)') }
      break
    case 'unknown':
      return {
        kind: 'refused',
        ...answer(550, '5.1.1', `No such user here: the simulator knows ${simulatedBehaviours.join(', ')}`),
      }
  }
  return { kind: 'accepted', reply: '250 2.0.0 OK (simulated)', queueId: null }
}
