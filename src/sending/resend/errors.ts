import type { FastifyReply, FastifyRequest } from 'fastify'
import { type ErrorAnswer, toRefusal } from '../../platform/http/errors.ts'
import { Refusal } from '../../platform/values/errors.ts'

type ResendError = { statusCode: number; name: string }

/** Names and status codes of the Resend API. */
function errorOf({ type, fields }: Refusal, { headers }: FastifyRequest): ResendError {
  switch (type) {
    case 'unauthorized':
      return headers.authorization === undefined
        ? { statusCode: 401, name: 'missing_api_key' }
        : { statusCode: 403, name: 'invalid_api_key' }
    case 'insufficient_scope':
    case 'forbidden':
      return { statusCode: 401, name: 'restricted_api_key' }
    case 'not_found':
      return { statusCode: 404, name: 'not_found' }
    case 'method_not_allowed':
      return { statusCode: 405, name: 'method_not_allowed' }
    case 'invalid_idempotency_key':
      return { statusCode: 400, name: 'invalid_idempotency_key' }
    case 'idempotency_key_reused':
      return { statusCode: 409, name: 'invalid_idempotent_request' }
    case 'rate_limited':
      return { statusCode: 429, name: 'rate_limit_exceeded' }
    case 'unavailable':
      return { statusCode: 503, name: 'application_error' }
    case 'sender_not_verified':
      return { statusCode: 403, name: 'validation_error' }
    case 'invalid_json':
    case 'unsupported_media_type':
      return { statusCode: 400, name: 'validation_error' }
    case 'payload_too_large':
      return { statusCode: 413, name: 'validation_error' }
    default:
      return { statusCode: 422, name: nameOf(fields[0]) }
  }
}

function nameOf(field: Refusal['fields'][number] | undefined): string {
  if (field?.problem.includes('required')) return 'missing_required_field'
  if (field?.path.includes('attachments')) return 'invalid_attachment'
  return 'validation_error'
}

/** Responds with errors in the form of the Resend API. */
export function answerResendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const refusal = toRefusal(error)
  if (!refusal) {
    request.log.error({ err: error, requestId: request.id }, 'Request failed')
    const message = 'Internal server error.'
    request.failure = { type: 'internal_server_error', message, fields: [] }
    return reply.status(500).send({ statusCode: 500, name: 'internal_server_error', message })
  }
  const { statusCode, name } = errorOf(refusal, request)
  request.failure = { type: name, message: refusal.message, fields: refusal.fields }
  if (refusal.retryAfterSeconds !== undefined) reply.header('retry-after', String(Math.ceil(refusal.retryAfterSeconds)))
  return reply.status(statusCode).send({ statusCode, name, message: refusal.message })
}

const notSupported = 'This operation of the Resend API is not supported by this service.'

export const unsupportedOperation = () => new Refusal('not_found', notSupported)

/** Paths whose clients do not expect the Resend API. */
const otherPath =
  /^\/(?:api|public|mcp|t|u|docs|providers|assets|images|tls|health|ready|metrics|openapi\.json|robots\.txt|\.well-known)(?:\/|$)/

/** Whether a request for an unknown path was probably made by an SDK of Resend. */
export const isForResend = ({ url, headers }: FastifyRequest): boolean =>
  /^Bearer /i.test(headers.authorization ?? '') &&
  !headers.accept?.includes('text/html') &&
  !otherPath.test(url.split('?', 1)[0]!)

/** Answers a request for an unknown path or method in the form of the Resend API. */
export const answerUnsupported: ErrorAnswer = (error, request, reply) =>
  answerResendError(
    error instanceof Refusal && error.type === 'not_found' ? unsupportedOperation() : error,
    request,
    reply,
  )
