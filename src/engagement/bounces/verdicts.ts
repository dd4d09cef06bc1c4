import { changeMessages, derivedEventId, type EventRecorder, type NewEvent } from '../../events/events.ts'
import type { Db } from '../../platform/db/db.ts'
import type { BounceDetail } from '../../platform/values/event-types.ts'
import { storableText } from '../../platform/values/text.ts'
import type { SentMessage } from '../tracking/tracking.sql.ts'

/** The outcome of a message according to a bounce or a provider. */
export type Verdict = { kind: 'bounce'; bounce: BounceDetail } | { kind: 'complaint'; feedbackType: string }
export type MessageReport = { message: SentMessage; occurredAt: Date; verdict: Verdict }

/**
 * Reports that mail systems generate automatically (RFC 6591: its signature failed), and the opposite of a complaint.
 */
const noComplaints = new Set(['auth-failure', 'virus', 'not-spam'])

/** Returns whether a feedback report (RFC 5965) of this type is a complaint of the recipient. */
export const isComplaint = (feedbackType: string): boolean => !noComplaints.has(feedbackType.toLowerCase())

export type VerdictParts = {
  db: Db
  events: EventRecorder
  /** Called for each new soft bounce. */
  onSoftBounce: (message: SentMessage, bounce: BounceDetail) => void
}

const feedbackTypeLengthMax = 100
const diagnosticLengthMax = 1_000

/**
 * Records outcomes of messages and returns how many were new. A message has at most one hard bounce, one soft bounce
 * and one complaint, regardless of how often they are reported, including by our own SMTP session. Of a test email only
 * the status changes.
 */
export async function recordVerdicts(
  { db, events, onSoftBounce }: VerdictParts,
  reports: MessageReport[],
): Promise<number> {
  const tests = reports.filter(({ message }) => message.isTest).map(eventOf)
  if (tests.length > 0) await db.begin(async (tx) => changeMessages(tx, tests))
  const ordinary = reports.filter(({ message }) => !message.isTest)
  const recorded = await Promise.all(ordinary.map((each) => events.record(eventOf(each))))
  ordinary.forEach(({ message, verdict }, index) => {
    if (recorded[index] && verdict.kind === 'bounce' && verdict.bounce.type === 'soft')
      onSoftBounce(message, verdict.bounce)
  })
  return recorded.filter(Boolean).length
}

function eventOf({ message, occurredAt, verdict }: MessageReport): NewEvent {
  const { organizationId, id: messageId, flowId, contactId } = message
  const outcome = outcomeOf(verdict)
  const id = derivedEventId(messageId, outcome.eventName)
  const noMachine = { machine: false, machineReason: null }
  return { id, organizationId, messageId, flowId, contactId, occurredAt, ...noMachine, ...outcome }
}

function outcomeOf(verdict: Verdict): Pick<NewEvent, 'eventName' | 'data'> {
  switch (verdict.kind) {
    case 'complaint':
      return {
        eventName: 'emailComplaint',
        data: { feedback_type: storableText(verdict.feedbackType, feedbackTypeLengthMax) },
      }
    case 'bounce': {
      const { diagnostic: reply } = verdict.bounce
      const diagnostic = reply === null ? null : storableText(reply, diagnosticLengthMax)
      return {
        eventName: verdict.bounce.type === 'hard' ? 'emailHardBounce' : 'emailSoftBounce',
        data: { bounce: { ...verdict.bounce, diagnostic } },
      }
    }
  }
}
