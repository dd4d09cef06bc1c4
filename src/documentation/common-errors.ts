import type { OperationErrors } from '../http/server.ts'
import { type RefusalType, statusOf } from '../values/errors.ts'
import type { Operation, ResponseEntry } from './types.ts'

/** Errors that many operations share, by status. */
type CommonError = { name: string; type: string; description: string; message: string; fields?: object[] }

const retryHeader = { schema: { type: 'integer' }, description: 'Seconds to wait before the next attempt.' }

const commonErrors: Readonly<Record<number, CommonError>> = {
  400: {
    name: 'InvalidJson',
    type: 'invalid_json',
    description: '`invalid_json`: the body is not valid JSON, or not UTF-8.',
    message: 'The body is not valid JSON.',
  },
  401: {
    name: 'Unauthorized',
    type: 'unauthorized',
    description: '`unauthorized`: the credential is missing, malformed, unknown, revoked or expired.',
    message: 'The API key is missing or invalid. Send it in the X-Api-Token header.',
  },
  403: {
    name: 'Forbidden',
    type: 'insufficient_scope',
    description:
      '`insufficient_scope`: the API key does not have the required scope. `forbidden`: the role of the user does not permit this.',
    message: 'This API key does not have the scope flows:send.',
  },
  404: {
    name: 'NotFound',
    type: 'not_found',
    description: '`not_found`: the record does not exist or belongs to another organization.',
    message: 'Flow not found.',
  },
  412: {
    name: 'PreconditionFailed',
    type: 'precondition_failed',
    description: '`precondition_failed`: the record was changed since the version in `If-Match`. Nothing was changed.',
    message: 'The record was changed since you read it. Fetch it again and repeat the change.',
  },
  413: {
    name: 'PayloadTooLarge',
    type: 'payload_too_large',
    description: '`payload_too_large`: the body exceeds the size limit of the operation.',
    message: 'The body exceeds the size limit of this endpoint.',
  },
  415: {
    name: 'UnsupportedMediaType',
    type: 'unsupported_media_type',
    description: '`unsupported_media_type`: the `Content-Type` is missing or not supported.',
    message: 'Send the body as JSON, with Content-Type: application/json.',
  },
  422: {
    name: 'ValidationFailed',
    type: 'validation_failed',
    description: '`validation_failed`: a field or parameter is invalid. `error.fields` lists each problem.',
    message: 'name: is required.',
    fields: [{ path: 'name', problem: 'is required' }],
  },
  429: {
    name: 'RateLimited',
    type: 'rate_limited',
    description: '`rate_limited`: too many requests. Wait for the time in `Retry-After`.',
    message: 'This key may make 500 requests a second. Slow down and try again.',
  },
  431: {
    name: 'HeadersTooLarge',
    type: 'invalid_request',
    description: '`invalid_request`: the URL and the headers of the request have more than 16 KiB.',
    message: 'The URL and the headers of the request have more than 16 KiB.',
  },
  500: {
    name: 'InternalError',
    type: 'internal',
    description: '`internal`: an unexpected error. The log of the service has the details under the request id.',
    message: 'Internal server error.',
  },
  503: {
    name: 'Unavailable',
    type: 'unavailable',
    description:
      '`unavailable`: the service or its database is temporarily unavailable. Try again after `Retry-After`.',
    message: 'The service is temporarily unavailable. Try again in a moment.',
  },
}

const errorSchema = { $ref: '#/components/schemas/Error' }

/** The `components.responses` of the document. */
export const errorComponents: Readonly<Record<string, ResponseEntry>> = Object.fromEntries(
  Object.entries(commonErrors).map(([status, error]) => [
    error.name,
    {
      description: error.description,
      ...((status === '429' || status === '503') && { headers: { 'Retry-After': retryHeader } }),
      content: {
        'application/json': { schema: errorSchema, example: exampleOf(Number(status), error) },
        'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
      },
    },
  ]),
)

function exampleOf(code: number, { type, message, fields = [] }: CommonError) {
  return {
    code,
    status: 'error',
    message,
    data: null,
    error: { type, fields, request_id: 'req_5d0c8f1e9a4b7c26000001' },
  }
}

/** Problem Details (RFC 9457), which clients receive that accept them. */
export const problemSchema = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'instance', 'error'],
  properties: {
    type: { type: 'string', description: '`urn:waxwing:error:` and the error type.' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'A description of the problem for people.' },
    instance: { type: 'string', description: '`urn:waxwing:request:` and the request id.' },
    error: { $ref: '#/components/schemas/ErrorDetail' },
  },
}

/** Returns the statuses that an operation can respond with because of its credential, parameters and body. */
function commonStatuses(operation: Operation, checksQuery: boolean): number[] {
  const { requestBody, parameters = [], security = [] } = operation
  const has = (place: string) => parameters.some((parameter) => parameter.in === place)
  const isLimited = security.length > 0 || (operation.tags ?? []).some((tag) => tag === 'Accounts' || tag === 'Team')
  return [
    ...(requestBody ? [400, 413, 415] : []),
    ...(security.length > 0 ? [401] : []),
    // API keys without the scope, or for operations that require a user, are rejected.
    ...(operation['x-scope'] || security.some((scheme) => 'session' in scheme) ? [403] : []),
    ...(has('path') ? [404] : []),
    ...(requestBody || checksQuery || has('query') || has('header') ? [422] : []),
    ...(isLimited || operation.tags?.includes('Documentation') ? [429] : []),
    ...(parameters.some(({ name }) => name === 'filter' || name === 'mapping') ? [431] : []),
    500,
    503,
  ]
}

/** Returns the error responses of an operation. `checksQuery`: it rejects unknown query parameters. */
export function errorResponses(
  operation: Operation,
  errors: OperationErrors,
  checksQuery: boolean,
): Record<string, ResponseEntry> {
  const declared = Object.entries(errors) as [RefusalType, string][]
  const statuses = new Set([...commonStatuses(operation, checksQuery), ...declared.map(([type]) => statusOf[type])])
  return Object.fromEntries(
    [...statuses]
      .sort((a, b) => a - b)
      .map((status) => {
        const common = commonErrors[status]
        const specific = declared.filter(([type]) => statusOf[type] === status)
        if (specific.length === 0 && common) return [status, { $ref: `#/components/responses/${common.name}` }]
        const isCommon = common && commonStatuses(operation, checksQuery).includes(status)
        const described = specific.map(([type, when]) => `\`${type}\`: ${when}`)
        const general = isCommon && !specific.some(([type]) => type === common.type) ? [common.description] : []
        return [
          status,
          {
            description: [...described, ...general].join(' '),
            content: { 'application/json': { schema: errorSchema } },
          },
        ]
      }),
  )
}
