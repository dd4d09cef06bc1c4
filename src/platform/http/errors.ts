import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { isConnectionFault } from '../db/db.ts'
import { type FieldProblem, invalid, Refusal, statusOf } from '../values/errors.ts'
import { unknownFieldProblem } from './unknown-fields.ts'

const unavailableRetrySeconds = 2
const fieldsMax = 100
/** During a database outage, failed requests are logged together, at most once per interval. */
const unservedLoggedEveryMs = 1_000

export type ErrorAnswer = (error: unknown, request: FastifyRequest, reply: FastifyReply) => FastifyReply

/** Maps errors to responses. */
export function createErrorAnswer(): ErrorAnswer {
  let unserved = 0
  let loggedAt = Number.NEGATIVE_INFINITY
  const logUnserved = (error: Error & { code?: unknown }, request: FastifyRequest) => {
    unserved++
    const now = performance.now()
    if (now - loggedAt < unservedLoggedEveryMs) return
    const reason = error.message || error.code
    request.log.warn({ reason, requestId: request.id, requests: unserved }, 'Requests could not be served')
    unserved = 0
    loggedAt = now
  }
  return (error, request, reply) => {
    // The client disconnected before the body was complete. Not logged as an error, because any client can cause it.
    if (error === request.raw.errored)
      return sendError(request, reply, { status: 400, type: 'invalid_request', message: 'The body is incomplete.' })
    const refusal = toRefusal(error)
    if (refusal?.type === 'unavailable') logUnserved(error as Error, request)
    return answerRefusal(refusal, error, request, reply)
  }
}

function answerRefusal(refusal: Refusal | undefined, error: unknown, request: FastifyRequest, reply: FastifyReply) {
  if (!refusal) {
    request.log.error({ err: loggable(error), requestId: request.id }, 'Request failed')
    return sendError(request, reply, { status: 500, type: 'internal', message: 'Internal server error.' })
  }
  if (refusal.retryAfterSeconds !== undefined) reply.header('retry-after', String(Math.ceil(refusal.retryAfterSeconds)))
  if (refusal.type === 'unauthorized') reply.header('www-authenticate', 'Bearer')
  const { type, message } = refusal
  const fields = refusal.fields.slice(0, fieldsMax)
  return sendError(request, reply, { status: statusOf[type], type, message, fields })
}

type ErrorContent = { status: number; type: string; message: string; fields?: FieldProblem[] }

/** The error that a request was answered with. */
export type RequestFailure = { type: string; message: string; fields: FieldProblem[] }

declare module 'fastify' {
  interface FastifyRequest {
    /** Null unless the request was answered with an error. Set by whatever sends the error, for the request log. */
    failure: RequestFailure | null
  }
}

/** Sends the error envelope, or Problem Details (RFC 9457) if the client accepts them. */
function sendError(request: FastifyRequest, reply: FastifyReply, { status, type, message, fields = [] }: ErrorContent) {
  reply.status(status)
  request.failure = { type, message, fields }
  if (!acceptsProblem(request.headers.accept)) return reply.send(errorBody(status, type, message, fields, request.id))
  const problem = {
    type: `urn:waxwing:error:${type}`,
    title: titleOf(type),
    status,
    detail: message,
    instance: `urn:waxwing:request:${request.id}`,
    error: { type, fields, request_id: request.id },
  }
  // As bytes: the serializer of the route is for the envelope.
  return reply.type('application/problem+json; charset=utf-8').send(Buffer.from(JSON.stringify(problem)))
}

const problemRange = /^\s*application\/problem\+json\s*(;(?!\s*q=0(\.0*)?\s*$).*)?$/i
const acceptsProblem = (accept = ''): boolean => accept.split(',').some((part) => problemRange.test(part))

const titleOf = (type: string): string => {
  const words = type.replaceAll('_', ' ').replace('json', 'JSON')
  return `${words[0]!.toUpperCase()}${words.slice(1)}`
}

/** Removes PostgreSQL's `detail` and `where`, which may contain values of rows, such as email addresses. */
function loggable(error: unknown): unknown {
  if (!(error instanceof Error) || !('detail' in error || 'where' in error)) return error
  const { name, message, stack } = error
  const { code, table, constraint, column } = error as Error &
    Partial<Record<'code' | 'table' | 'constraint' | 'column', unknown>>
  return Object.assign(new Error(message), { name, stack, code, table, constraint, column })
}

export function errorBody(code: number, type: string, message: string, fields: FieldProblem[], requestId: string) {
  return { code, status: 'error' as const, message, data: null, error: { type, fields, request_id: requestId } }
}

/** Returns undefined for internal errors. */
export function toRefusal(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error
  if (isConnectionFault(error))
    return new Refusal('unavailable', 'The service is temporarily unavailable. Try again in a moment.', {
      retryAfterSeconds: unavailableRetrySeconds,
    })
  const fault = error as Partial<FastifyError>
  if (fault.validation) return validationRefusal(fault.validation, fault.validationContext)
  switch (fault.code) {
    // PostgreSQL: character_not_in_repertoire, untranslatable_character, datetime_field_overflow.
    case '22021':
    case '22P05':
      return new Refusal('validation_failed', 'The request contains a character that cannot be stored, such as NUL.')
    case '22008':
      return new Refusal('validation_failed', 'The request contains a time that is out of range.')
    case 'FST_ERR_ROUTE_MISSING_CONTENT_TYPE':
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new Refusal('unsupported_media_type', 'Send the body as JSON, with Content-Type: application/json.')
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new Refusal('payload_too_large', 'The body exceeds the size limit of this endpoint.')
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new Refusal('invalid_json', 'The body is not valid JSON.')
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_ASYNC_CONSTRAINT':
      return new Refusal('not_found', 'Not found.')
  }
  if (error instanceof SyntaxError && fault.statusCode === 400)
    return new Refusal('invalid_json', 'The body is not valid JSON.')
  return undefined
}

type AjvError = {
  instancePath?: string
  keyword?: string
  params?: Record<string, unknown>
  message?: string
  parentSchema?: { properties?: object }
}

/** A body may have a thousand unknown fields, and describing one takes longer than finding it. */
const describedMax = 100

/** Describes the errors of a validator, the first hundred of them. */
export function validationRefusal(errors: unknown, context = 'body'): Refusal {
  const fields = ((errors ?? []) as AjvError[]).slice(0, describedMax).map((fault): FieldProblem => {
    const parts = (fault.instancePath ?? '').split('/').slice(1)
    if (fault.keyword === 'required') parts.push(String(fault.params?.missingProperty))
    if (fault.keyword === 'discriminator') parts.push(String(fault.params?.tag))
    if (fault.keyword === 'additionalProperties') parts.push(String(fault.params?.additionalProperty))
    return { path: parts.join('.') || context, problem: problemOf(fault) }
  })
  const [first, ...others] = fields
  return first ? invalid(first, ...others) : new Refusal('validation_failed', 'The request is not valid.')
}

const typeInWords = (type: unknown): string =>
  type === 'integer' ? 'a whole number' : type === 'boolean' ? 'true or false' : String(type)

function problemOf({ keyword, params = {}, message, parentSchema }: AjvError): string {
  switch (keyword) {
    case 'required':
      return 'is required'
    case 'additionalProperties':
      return unknownFieldProblem(String(params.additionalProperty), Object.keys(parentSchema?.properties ?? {}))
    case 'discriminator':
      return 'is missing or unknown'
    case 'type':
      return `must be ${[params.type].flat().map(typeInWords).join(' or ')}`
    case 'enum':
      return `must be one of ${(params.allowedValues as unknown[]).join(', ')}`
    case 'minLength':
      return params.limit === 1 ? 'must not be empty' : `must have at least ${params.limit} characters`
    case 'maxLength':
      return `must have at most ${params.limit} characters`
    case 'minimum':
      return `must be at least ${params.limit}`
    case 'maximum':
      return `must be at most ${params.limit}`
    case 'minItems':
      return `must have at least ${params.limit} element${params.limit === 1 ? '' : 's'}`
    case 'maxItems':
      return `must have at most ${params.limit} elements`
    default:
      return message ?? 'is not valid'
  }
}
