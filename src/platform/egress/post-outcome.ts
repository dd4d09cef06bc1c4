import type { Acknowledgement, ResponseRules, Retryable4xx } from './response-rules.ts'

/** The outcome of one post. `responseBody` is null if no response was received. `location` is set for redirects. */
export type PostOutcome = { durationMs: number; responseBody: string | null; location?: string } & PostResult

export type PostResult =
  | { kind: 'acknowledged'; statusCode: number }
  /** 4xx: final, not retried, unless the webhook has other rules. */
  | { kind: 'refused'; statusCode: number }
  /** Any other status: retried. */
  | { kind: 'not_acknowledged'; statusCode: number; expected: Acknowledgement; retryAfterSeconds: number }
  | { kind: 'timed_out'; timeoutMs: number }
  /** `isPrivate`: nothing was sent, because the address is not public. */
  | { kind: 'unreachable'; because: string; isPrivate?: boolean }
  /** This process had no resources to connect, which says nothing about the receiver. */
  | { kind: 'local_resource_error'; because: string }

export const attemptOutcomes = ['acknowledged', 'refused', 'not_acknowledged', 'timed_out', 'unreachable'] as const
export type AttemptOutcome = (typeof attemptOutcomes)[number]
/** A request that was sent, or tried. */
export type AttemptResult = Extract<PostResult, { kind: AttemptOutcome }>

/** `retryAfterSeconds` counts only for 429: other responses are retried by the schedule. */
export function resultOfStatus(
  statusCode: number,
  { acknowledge, retry4xx }: ResponseRules,
  retryAfterSeconds = 0,
): AttemptResult {
  if (statusCode === 200 || (acknowledge === '2xx' && statusCode > 200 && statusCode < 300))
    return { kind: 'acknowledged', statusCode }
  if (statusCode >= 400 && statusCode < 500 && !retry4xx.includes(statusCode as Retryable4xx))
    return { kind: 'refused', statusCode }
  return {
    kind: 'not_acknowledged',
    statusCode,
    expected: acknowledge,
    retryAfterSeconds: statusCode === 429 ? retryAfterSeconds : 0,
  }
}

/** A description for the delivery log. */
export function reasonInWords(outcome: PostResult): string {
  switch (outcome.kind) {
    case 'acknowledged':
      return `Responded ${outcome.statusCode}`
    case 'refused':
      return `Responded ${outcome.statusCode} (not retried)`
    case 'not_acknowledged': {
      const isRedirect = outcome.statusCode >= 300 && outcome.statusCode < 400
      return `Responded ${outcome.statusCode} (${outcome.expected} expected${isRedirect ? '; redirects are not followed' : ''})`
    }
    case 'timed_out':
      return `No response within ${outcome.timeoutMs / 1000} seconds`
    case 'unreachable':
    case 'local_resource_error':
      return outcome.because.replace(/^[a-z]/, (letter) => letter.toUpperCase())
  }
}
