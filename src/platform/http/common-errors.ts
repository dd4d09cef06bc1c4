import { type RefusalType, statusOf } from '../values/errors.ts'
import { referenceText } from './reference-texts.ts'
import type { OperationErrors } from './server.ts'
import type { Operation, ResponseEntry } from './types.ts'

/** Errors that many operations share, by status. */
type CommonError = { name: string; type: string; description: string; message: string; fields?: object[] }

const retryHeader = { schema: { type: 'integer' }, description: 'Seconds to wait before the next attempt.' }

const commonErrors: Readonly<Record<number, CommonError>> = JSON.parse(referenceText('errors.json'))

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
