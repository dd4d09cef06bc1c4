/** The outcome of one post. `responseBody` is null if no response was received. */
export type PostOutcome = { durationMs: number; responseBody: string | null } & PostResult

export type PostResult =
  | { kind: 'acknowledged'; statusCode: 200 }
  /** 4xx: final, not retried. */
  | { kind: 'refused'; statusCode: number }
  /** Any other status: retried. */
  | { kind: 'not_acknowledged'; statusCode: number }
  | { kind: 'timed_out'; timeoutMs: number }
  | { kind: 'unreachable'; because: string }
  /** This process had no resources to connect, which says nothing about the receiver. */
  | { kind: 'local_resource_error'; because: string }

export function resultOfStatus(statusCode: number): PostResult {
  if (statusCode === 200) return { kind: 'acknowledged', statusCode }
  if (statusCode >= 400 && statusCode < 500) return { kind: 'refused', statusCode }
  return { kind: 'not_acknowledged', statusCode }
}

/** A description for the delivery log, to follow the name of the endpoint. */
export function reasonInWords(outcome: PostResult): string {
  switch (outcome.kind) {
    case 'acknowledged':
      return 'answered 200'
    case 'refused':
      return `answered ${outcome.statusCode}, which is final`
    case 'not_acknowledged': {
      const isRedirect = outcome.statusCode >= 300 && outcome.statusCode < 400
      return `answered ${outcome.statusCode}; ${isRedirect ? 'redirects are not followed and ' : ''}only 200 acknowledges`
    }
    case 'timed_out':
      return `did not answer within ${outcome.timeoutMs / 1000} seconds`
    case 'unreachable':
    case 'local_resource_error':
      return outcome.because
  }
}
