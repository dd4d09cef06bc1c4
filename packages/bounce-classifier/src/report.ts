import type { BounceReason } from './reasons.ts'
import { type Confidence, type Evidence, judge } from './verdict.ts'

const diagnosticCharsMax = 1000

/** The verdict of a mail on one recipient. */
export type BounceResult = {
  /** In lower case, as the reporting system knows it: behind a forwarder it differs from the address of the email. */
  recipient: string | null
  kind: 'hard' | 'soft' | 'complaint' | 'none'
  status: string | null
  replyCode: number | null
  reason: BounceReason | 'feedback' | 'delivered' | 'not_a_bounce'
  /** A verdict of low confidence is never `hard`. */
  confidence: Confidence
  /** The line of the report that decided, as it was written. */
  evidence: string | null
  /** The words of the mail system, one line. */
  diagnostic: string | null
  /** Of complaints, as ARF names it: `abuse`, `fraud`, `opt-out`, `auth-failure`… */
  feedbackType?: string
}

export const notABounce: BounceResult = {
  recipient: null,
  kind: 'none',
  status: null,
  replyCode: null,
  reason: 'not_a_bounce',
  confidence: 'high',
  evidence: null,
  diagnostic: null,
}

export function refused(recipient: string | null, evidence: Evidence, diagnostic: string): BounceResult {
  return {
    recipient,
    ...judge(evidence),
    status: evidence.status,
    replyCode: evidence.replyCode,
    diagnostic: diagnostic.replace(/\s+/g, ' ').trim().slice(0, diagnosticCharsMax) || null,
  }
}

export function delivered(recipient: string | null, status: string | null): BounceResult {
  return { ...notABounce, recipient, status, reason: 'delivered' }
}

export function complaint(recipient: string | null, feedbackType: string): BounceResult {
  // A report of "not spam" is the opposite of a complaint.
  const kind = feedbackType === 'not-spam' ? 'none' : 'complaint'
  return { ...notABounce, recipient, kind, reason: 'feedback', feedbackType }
}
