/** The values of `error.type`, and three types for errors without a response of the API. */
export type WaxwingErrorType =
  | 'invalid_request'
  | 'invalid_json'
  | 'invalid_idempotency_key'
  | 'unauthorized'
  | 'insufficient_scope'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'conflict'
  | 'flow_not_active'
  | 'idempotency_key_reused'
  | 'idempotency_in_progress'
  | 'precondition_failed'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'validation_failed'
  | 'missing_variables'
  | 'sender_not_verified'
  | 'rate_limited'
  | 'internal'
  | 'unavailable'
  | 'network'
  | 'timeout'
  | 'unexpected_answer'

/** An invalid input field: its path (`members.3.email`) and what is wrong with it. */
export type FieldProblem = { path: string; problem: string }

export type WaxwingErrorDetails = {
  type: WaxwingErrorType
  status?: number | undefined
  fields?: FieldProblem[] | undefined
  requestId?: string | undefined
  retryAfterSeconds?: number | undefined
  cause?: unknown
}

/** A failed call. `message` is for people, `type` for programs. */
export class WaxwingError extends Error {
  readonly type: WaxwingErrorType
  /** The HTTP status, or undefined if there was no response. */
  readonly status: number | undefined
  readonly fields: FieldProblem[]
  /** Include it in support requests. */
  readonly requestId: string | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(message: string, details: WaxwingErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'WaxwingError'
    this.type = details.type
    this.status = details.status
    this.fields = details.fields ?? []
    this.requestId = details.requestId
    this.retryAfterSeconds = details.retryAfterSeconds
  }
}
