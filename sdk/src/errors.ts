import type { components } from './generated/schema.ts'

type ApiError = components['schemas']['Error']['error']

/** The values of `error.type`, and three types for errors without a response of the API. */
export type WaxwingErrorType = ApiError['type'] | 'network' | 'timeout' | 'unexpected_answer'

/** An invalid input field: its path (`members.3.email`) and what is wrong with it. */
export type FieldProblem = ApiError['fields'][number]

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
