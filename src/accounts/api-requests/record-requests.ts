import { randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Server } from '../../platform/http/server.ts'
import { keyOfUnguarded } from '../people/guards.ts'
import type { KeyCache } from '../people/key-cache.ts'
import type { ApiRequestLog, NewApiRequest } from './api-request-log.ts'
import { redact, redactText } from './redact.ts'
import { noResponse, recordedResponse } from './responses.ts'

const pathMax = 500
/** Of requests to a path that no route has. */
const unknownRoute = '*'
const userAgentMax = 200
const messageMax = 500
const fieldsMax = 10
/** Of bodies that a route has not parsed. Larger ones would take more than a millisecond. */
const parsedBytesMax = 64 * 1024

/** A header that no client knows. Requests that the service makes to itself on behalf of an MCP client have it. */
const viaHeader = 'x-waxwing-via'
const mcpMark = randomBytes(16).toString('hex')
export const viaMcp: Readonly<Record<string, string>> = { [viaHeader]: mcpMark }

/** Whether the service makes this request to itself on behalf of an MCP client. */
export const isViaMcp = ({ headers }: Pick<FastifyRequest, 'headers'>): boolean => headers[viaHeader] === mcpMark

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Successful requests are not recorded: what they cause is. */
    recordsFailuresOnly?: boolean
  }
}

/**
 * Records the requests of API keys at their end. A request that is not kept costs two look-ups. No guard has looked at the
 * key of a request to an unknown path, which is looked up after the response, within the limits of `KeyCache`.
 */
export function recordRequests(server: Server, log: ApiRequestLog, keys: KeyCache): void {
  const record = (key: Key, request: FastifyRequest, reply: FastifyReply) => {
    if (log.keeps(key, reply.statusCode) && isRecorded(request, reply)) log.add(rowOf(key, request, reply))
  }
  server.addHook('onResponse', (request, reply, done) => {
    const key = request.apiKey
    if (key !== null) record(key, request, reply)
    else if (request.is404)
      keyOfUnguarded(keys, request).then(
        (found) => found && record(found, request, reply),
        // Too many keys are being looked up, or the database is unavailable. It is only a log.
        () => {},
      )
    done()
  })
}

const isRecorded = ({ routeOptions }: FastifyRequest, { statusCode }: FastifyReply) =>
  statusCode >= 400 || routeOptions.config.recordsFailuresOnly !== true

type Key = NonNullable<FastifyRequest['apiKey']>

function rowOf(key: Key, request: FastifyRequest, reply: FastifyReply): NewApiRequest {
  const { statusCode: status, elapsedTime: durationMs } = reply
  const { failure } = request
  const isRejected = status >= 400 && status < 500
  return {
    organizationId: key.organizationId,
    apiKeyId: key.id,
    requestId: request.id,
    // Of the request, not of the response, so that requests are listed in the order in which they were made.
    at: new Date(Date.now() - durationMs),
    via: isViaMcp(request) || request.routeOptions.url === '/mcp' ? 'mcp' : 'api',
    method: request.method,
    route: request.routeOptions.url ?? unknownRoute,
    path: pathOf(request.url),
    status,
    durationMs,
    client: request.ip,
    userAgent: textOf(request.headers['user-agent'], userAgentMax),
    errorType: failure?.type ?? null,
    errorMessage: textOf(failure?.message, messageMax),
    errorFields: failure?.fields.length ? failure.fields.slice(0, fieldsMax).map(redactField) : null,
    query: isRejected && request.url.includes('?') ? redact(request.query) : null,
    body: isRejected ? redact(jsonOf(request)) : null,
    ...(status < 400 && request.method === 'GET' ? noResponse : recordedResponse(request.answer)),
  }
}

/** Some routes get the bytes of the body. */
function jsonOf({ body, headers }: FastifyRequest): unknown {
  if (!Buffer.isBuffer(body)) return body
  if (body.length > parsedBytesMax || !headers['content-type']?.includes('json')) return undefined
  try {
    return JSON.parse(body.toString())
  } catch {
    return undefined
  }
}

const textOf = (text: string | undefined, lengthMax: number) => (text ? redactText(text, lengthMax) : null)

const redactField = <Field extends { path: string; problem: string }>(field: Field): Field => ({
  ...field,
  path: redactText(field.path),
  problem: redactText(field.problem),
})

/** Without the query, and decoded: an address in a path is found by its own text when its contact is erased. */
function pathOf(url: string): string {
  const path = url.split('?', 1)[0]!
  return redactText(path.includes('%') ? decodeURIComponent(path) : path, pathMax)
}
