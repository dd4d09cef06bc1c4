/** What the API answers in `error.type`, and three things that happen before there is an answer to read. */
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

/** One input that is wrong: where it stands (`members.3.email`) and what to do about it. */
export type FieldProblem = { path: string; problem: string }

export type WaxwingErrorDetails = {
  type: WaxwingErrorType
  status?: number | undefined
  fields?: FieldProblem[] | undefined
  requestId?: string | undefined
  retryAfterSeconds?: number | undefined
  cause?: unknown
}

/** A call that did not succeed. `message` is a sentence for a person, `type` is for the program. */
export class WaxwingError extends Error {
  readonly type: WaxwingErrorType
  /** The HTTP status; undefined when no answer came. */
  readonly status: number | undefined
  readonly fields: FieldProblem[]
  /** Quote it when you ask for help. */
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
