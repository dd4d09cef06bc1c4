import { derivedEventId, type EventRecorder, type NewEvent } from '../events/record.ts'
import type { BounceDetail } from '../values/event-types.ts'
import type { SentMessage } from './tracking.sql.ts'

/** What became of a message, as a bounce mail or a provider tells it. */
export type Verdict = { kind: 'bounce'; bounce: BounceDetail } | { kind: 'complaint'; feedbackType: string }
export type Told = { message: SentMessage; occurredAt: Date; verdict: Verdict }

/** What mail systems tell of a mail by themselves (RFC 6591: its signature failed), or the opposite of a complaint. */
const noComplaints = new Set(['auth-failure', 'virus', 'not-spam'])

/** Whether a feedback report (RFC 5965) of this type is a recipient's wish for no more mail. */
export const isComplaint = (feedbackType: string): boolean => !noComplaints.has(feedbackType.toLowerCase())

const feedbackTypeLengthMax = 100
const diagnosticLengthMax = 1_000

/**
 * Records what was told of our messages; answers with how many were new. A message bounces hard once, soft once and is
 * complained about once, however often and by whomever that is told, our own SMTP session included.
 */
export async function recordVerdicts(recorder: EventRecorder, told: Told[]): Promise<number> {
  const recorded = await Promise.all(told.map((each) => recorder.record(eventOf(each))))
  return recorded.filter(Boolean).length
}

function eventOf({ message, occurredAt, verdict }: Told): NewEvent {
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
        data: { feedback_type: verdict.feedbackType.slice(0, feedbackTypeLengthMax) },
      }
    case 'bounce': {
      const diagnostic = verdict.bounce.diagnostic?.slice(0, diagnosticLengthMax) ?? null
      return {
        eventName: verdict.bounce.type === 'hard' ? 'emailHardBounce' : 'emailSoftBounce',
        data: { bounce: { ...verdict.bounce, diagnostic } },
      }
    }
  }
}
