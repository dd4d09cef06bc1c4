import { randomBytes } from 'node:crypto'
import { parse } from 'node:querystring'
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  LogController,
  type onRequestHookHandler,
} from 'fastify'
import { enterSection } from '../runtime/event-loop.ts'
import type { Log } from '../runtime/log.ts'
import { rememberLast } from '../runtime/remember-last.ts'
import { Refusal, type RefusalType } from '../values/errors.ts'
import { type AccessLogOptions, logRequests } from './access-log.ts'
import { basePathOf } from './base-path.ts'
import { type ConnectionLimit, limitConnections } from './connections-per-network.ts'
import { ErrorEnvelope } from './envelope.ts'
import { createErrorAnswer, type ErrorAnswer } from './errors.ts'
import { createJsonParser } from './json-body.ts'
import { answerMalformedRequest } from './malformed-request.ts'
import { closeSlowRequests } from './slow-requests.ts'
import { buildSerializer, buildValidator } from './validator.ts'

/** Routes that accept templates, contexts or lists set their own limit. */
const bodyBytesMax = 128 * 1024
/** The size of a request header section. Routes with tokens reject longer ones themselves. */
const pathPartMax = 16_384
const headersTimeoutMs = 15_000
/** For request bodies, except on routes with their own `bodyTimeoutMs`. */
const bodyTimeoutMs = 30_000
const connectionsCheckedEveryMs = 5_000
/** For a complete request: an import of half a gigabyte may arrive over a slow connection. */
export const requestTimeoutMs = 600_000
/** Longer than the usual 60 seconds of load balancers, so that they close idle connections first. */
const keepAliveTimeoutMs = 72_000
const stopWithinMs = 10_000
const sweepEveryMs = 50

export type ServerOptions = {
  log: Log
  /** It may change. */
  baseUrl: () => string
  trustProxy: boolean
  connectionsMax?: number
  connectionLimit?: ConnectionLimit
  bodyTimeoutMs?: number
  /** Returns how a request for an unknown path or method is answered, or undefined: like all others. */
  unknownRouteAnswerOf?: (request: FastifyRequest) => ErrorAnswer | undefined
  /** Undefined: requests are not logged. */
  organizationOf?: AccessLogOptions['organizationOf'] | undefined
}
export type Server = FastifyInstance

/** The HTTP core: limits, request ids, envelope, error mapping, security headers. Routes are registered in mounts.ts. */
export function createServer(options: ServerOptions): Server {
  const { log, baseUrl, trustProxy, connectionsMax } = options
  const headersAt = rememberLast(securityHeaders)
  const headers = () => headersAt(baseUrl())
  const newRequestId = requestIds()
  const answerError = createErrorAnswer()
  let stopping = false

  const server = fastify({
    loggerInstance: log as FastifyBaseLogger,
    // One line per request, written by `logRequests`, instead of two.
    logController: new LogController({ disableRequestLogging: true }),
    // No child logger per request, which would cost more than handling the request. Log calls include the request id
    // themselves.
    childLoggerFactory: (logger) => logger,
    genReqId: newRequestId,
    bodyLimit: bodyBytesMax,
    routerOptions: { maxParamLength: pathPartMax, ignoreTrailingSlash: true, querystringParser: readQuery },
    requestTimeout: requestTimeoutMs,
    http: { headersTimeout: headersTimeoutMs, connectionsCheckingInterval: connectionsCheckedEveryMs },
    keepAliveTimeout: keepAliveTimeoutMs,
    forceCloseConnections: 'idle',
    // The built-in response has neither envelope nor request id; see the hook below.
    return503OnClosing: false,
    // Only the last entry of X-Forwarded-For was added by the proxy; earlier ones are controlled by the client.
    // Fastify's numeric option does not work for this.
    trustProxy: trustProxy && ((_address, hop) => hop === 0),
    // A proxy may pass the path with or without the path prefix of the public address.
    rewriteUrl: (request) => decodable(withoutPrefix(request.url ?? '/', basePathOf(baseUrl()))),
    // These errors occur before any hook runs.
    frameworkErrors: (error, request, reply) =>
      answerError(error, request, reply.headers(headers()).header('x-request-id', request.id)),
    clientErrorHandler: (error, socket) => answerMalformedRequest(error, socket, newRequestId(), headers()),
    schemaController: { compilersFactory: { buildValidator, buildSerializer } },
  })

  server.addSchema(ErrorEnvelope)
  server.decorate('turnsOf', (request) => options.organizationOf?.(request) ?? request.ip)
  server.decorateRequest('failure', null)
  server.decorateRequest('answer', null)
  server.setErrorHandler(answerError)
  // Callbacks instead of promises, because these hooks run for every request.
  server.addHook('onRequest', (request, reply, done) => {
    enterSection('request')
    reply.headers(headers()).header('x-request-id', request.id)
    if (stopping)
      done(new Refusal('unavailable', 'The service is shutting down.', { retryAfterSeconds: stopWithinMs / 1000 }))
    else if (request.headers['content-encoding'] !== undefined && isEncoded(request.headers['content-encoding']))
      done(new Refusal('unsupported_media_type', 'Send the body as it is, without Content-Encoding.'))
    else done()
  })
  server.addHook('onSend', (request, reply, payload, done) => {
    if (typeof payload === 'string') request.answer = payload
    // Otherwise the client may send another request on a connection that is being closed.
    if (stopping) reply.header('connection', 'close')
    done(null, payload)
  })
  if (options.organizationOf) logRequests(server, { log, organizationOf: options.organizationOf })
  nameSections(server)
  if (connectionsMax !== undefined) server.server.maxConnections = connectionsMax
  if (options.connectionLimit) limitConnections(server, options.connectionLimit)
  closeSlowRequests(server, options.bodyTimeoutMs ?? bodyTimeoutMs)
  server.removeContentTypeParser('text/plain')
  readJson(server)
  answerUnknownRoutes(server, (error, request, reply) =>
    (options.unknownRouteAnswerOf?.(request) ?? answerError)(error, request, reply),
  )
  closeConnectionsOnStop(server, () => {
    stopping = true
  })
  return server
}

const isEncoded = (encoding: string) => encoding.trim().toLowerCase() !== 'identity'

/** When an operation responds with an error, by its type, in addition to errors that are common to all operations. */
export type OperationErrors = Partial<Record<RefusalType, string>>

declare module 'fastify' {
  interface FastifySchema {
    /** For the API reference. */
    errors?: OperationErrors
  }
  interface FastifyRequest {
    /** The name of the route in reports of a blocked event loop. */
    section: string
    /** The body of the response, if it is a text. For the request log. */
    answer: string | null
  }
}

/** Enters the section of the route whenever its work continues: after the guards, after the body, in its handler. */
function nameSections(server: Server): void {
  server.decorateRequest('section', 'request')
  server.addHook('onRoute', (route) => {
    const section = `${[route.method].flat().join(',')} ${route.url}`
    const enter: onRequestHookHandler = (request, _reply, done) => {
      request.section = section
      enterSection(section)
      done()
    }
    route.onRequest = [enter, ...[route.onRequest ?? []].flat()]
    route.preHandler = [enter, ...[route.preHandler ?? []].flat()]
  })
}

/** Empty parameters count as omitted, because forms also send empty fields. */
function readQuery(text: string) {
  const pairs = text.split('&').filter((pair) => /=./.test(pair))
  return parse(pairs.join('&'))
}

function readJson(server: Server): void {
  const parse = createJsonParser(server)
  server.removeContentTypeParser('application/json')
  server.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    enterSection(request.section)
    parse(request, body, done)
  })
}

/** Unique but not secret, so random bytes are drawn once per process. */
function requestIds(): () => string {
  const start = `req_${randomBytes(8).toString('hex')}`
  let count = 0
  return () => `${start}${(++count).toString(36).padStart(6, '0')}`
}

/** On shutdown, waits for requests in progress within a limit, and closes idle keep-alive connections. */
function closeConnectionsOnStop(server: Server, onStop: () => void): void {
  let sweep: NodeJS.Timeout | undefined
  let end: NodeJS.Timeout | undefined
  server.addHook('preClose', async () => {
    onStop()
    sweep = setInterval(() => server.server.closeIdleConnections(), sweepEveryMs)
    end = setTimeout(() => server.server.closeAllConnections(), stopWithinMs)
  })
  server.addHook('onClose', async () => {
    clearInterval(sweep)
    clearTimeout(end)
  })
}

function withoutPrefix(url: string, prefix: string): string {
  if (prefix === '' || !url.startsWith(prefix)) return url
  const rest = url.slice(prefix.length)
  if (rest === '') return '/'
  return rest.startsWith('/') ? rest : rest.startsWith('?') ? `/${rest}` : url
}

/** Escapes a path that cannot be decoded, so that the route responds instead of the framework. */
function decodable(url: string): string {
  if (!url.includes('%')) return url
  const [path] = url.split('?', 1) as [string]
  try {
    decodeURIComponent(path)
    return url
  } catch {
    return path.replaceAll('%', '%25') + url.slice(path.length)
  }
}

/** Strict defaults for an API. Pages set their own content security policy. */
function securityHeaders(baseUrl: string): Record<string, string> {
  const headers: Record<string, string> = {
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cache-control': 'no-store',
  }
  if (baseUrl.startsWith('https:')) headers['strict-transport-security'] = 'max-age=31536000'
  return headers
}

type KnownRoute = { url: string; methods: string[]; pattern: RegExp; variables: number }

function knownRouteOf([url, methods]: [string, string[]]): KnownRoute {
  const pattern = url
    .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
    .replace(/:[^/]+/g, '[^/]+')
    .replace(/\*$/, '.*')
  return { url, methods, pattern: new RegExp(`^${pattern}/?$`), variables: url.split(/[:*]/).length - 1 }
}

/** What comes before the name of a resource. Each of the APIs has its own. */
const apiPrefix = /^(?:\/public)?\/api\/v\d+(?:\/organization)?(?=\/)|^\/v\d+(?=\/)|^(?=\/)/

/** The refusal for a path that no route has. Names the route that has its end, but in another API. */
function unknownPath(path: string, routes: readonly KnownRoute[]): Refusal {
  const end = path.replace(apiPrefix, '')
  const meant = routes.find(({ url, pattern }) => {
    const prefix = apiPrefix.exec(url)?.[0]
    return prefix && pattern.test(prefix + end) && !pattern.test(path)
  })
  return new Refusal('not_found', meant ? `Not found. Did you mean ${meant.url}?` : 'Not found.')
}

/** Responds with 405 and Allow if the path has other methods, else with 404, before the body is read. */
function answerUnknownRoutes(server: Server, answer: ErrorAnswer): void {
  const urls = new Map<string, string[]>()
  server.addHook('onRoute', ({ method, url }) => {
    if (url !== '/*') urls.set(url, [...(urls.get(url) ?? []), ...[method].flat()])
  })
  // Built for the first unknown route: the patterns of all routes take 3 ms.
  let routes: KnownRoute[] | undefined
  const refuse = (request: FastifyRequest, reply: FastifyReply): Refusal => {
    const path = request.url.split('?', 1)[0]!
    routes ??= [...urls].map(knownRouteOf)
    const matching = routes.filter(({ pattern }) => pattern.test(path))
    // /flows/preview is no id of a flow, although the pattern of /flows/:id matches it.
    const variables = Math.min(...matching.map((route) => route.variables))
    const methods = new Set(matching.filter((route) => route.variables === variables).flatMap((route) => route.methods))
    if (methods.size === 0 || methods.has(request.method)) return unknownPath(path, routes)
    const allowed = [...methods].sort().join(', ')
    reply.header('allow', allowed)
    return new Refusal('method_not_allowed', `${request.method} is not allowed for this path. Use ${allowed}.`)
  }
  server.addHook('onRequest', (request, reply, done) => {
    if (request.is404) answer(refuse(request, reply), request, reply)
    else done()
  })
  server.setNotFoundHandler((request, reply) => answer(refuse(request, reply), request, reply))
}
