import { isUtf8 } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import { parse } from 'node:querystring'
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  fastify,
  LogController,
  type onRequestHookHandler,
} from 'fastify'
import { enterSection } from '../runtime/event-loop.ts'
import type { Log } from '../runtime/log.ts'
import { Refusal } from '../values/errors.ts'
import { ErrorEnvelope } from './envelope.ts'
import { createErrorAnswer } from './errors.ts'
import { answerNoRequest } from './no-request.ts'
import { closeSlowRequests } from './slow-requests.ts'
import { buildSerializer, buildValidator } from './validator.ts'

/** Routes that take templates, contexts or lists set their own. */
const bodyBytesMax = 128 * 1024
/** As much as a request's head holds: whether it is too long for a token is said by the route that takes tokens. */
const pathPartMax = 16_384
const headersTimeoutMs = 15_000
/** For the body of a request, but for routes with `slowBody`. */
const bodyTimeoutMs = 30_000
const connectionsCheckedEveryMs = 5_000
/** For a whole request: half a gigabyte of contacts may come over a slow line. */
const requestTimeoutMs = 600_000
/** Longer than the usual minute of load balancers, so that they close idle connections, not we. */
const keepAliveTimeoutMs = 72_000
const stopWithinMs = 10_000
const sweepEveryMs = 50

export type ServerOptions = {
  log: Log
  baseUrl: string
  trustProxy: boolean
  connectionsMax?: number
  bodyTimeoutMs?: number
}
export type Server = FastifyInstance

/** The HTTP core: limits, request ids, envelope and error mapping, security headers. Routes are registered in routes.ts. */
export function createServer(options: ServerOptions): Server {
  const { log, baseUrl, trustProxy, connectionsMax } = options
  const basePath = new URL(baseUrl).pathname.replace(/\/+$/, '')
  const headers = securityHeaders(baseUrl)
  const newRequestId = requestIds()
  const answerError = createErrorAnswer()
  let stopping = false

  const server = fastify({
    loggerInstance: log as FastifyBaseLogger,
    // One line per request, written below, instead of two.
    logController: new LogController({ disableRequestLogging: true }),
    // The few lines that a request may write name it themselves: a logger for each request costs more than the request.
    childLoggerFactory: (logger) => logger,
    genReqId: newRequestId,
    bodyLimit: bodyBytesMax,
    routerOptions: { maxParamLength: pathPartMax, ignoreTrailingSlash: true, querystringParser: readQuery },
    requestTimeout: requestTimeoutMs,
    http: { headersTimeout: headersTimeoutMs, connectionsCheckingInterval: connectionsCheckedEveryMs },
    keepAliveTimeout: keepAliveTimeoutMs,
    forceCloseConnections: 'idle',
    // Its own answer has neither envelope nor request id; ours is below.
    return503OnClosing: false,
    // Only the nearest hop is the proxy's word: what stands before it in X-Forwarded-For came with the request. Fastify
    // takes a number of hops, too, but believes none of them then.
    trustProxy: trustProxy && ((_address, hop) => hop === 0),
    // A proxy may hand over the path with or without the prefix under which the service is published.
    rewriteUrl: (request) => decodable(withoutPrefix(request.url ?? '/', basePath)),
    // These come before any hook.
    frameworkErrors: (error, request, reply) =>
      answerError(error, request, reply.headers(headers).header('x-request-id', request.id)),
    clientErrorHandler: (error, socket) => answerNoRequest(error, socket, newRequestId(), headers),
    schemaController: { compilersFactory: { buildValidator, buildSerializer } },
  })

  server.addSchema(ErrorEnvelope)
  server.setErrorHandler(answerError)
  // With `done` instead of a promise: these run for every request.
  server.addHook('onRequest', (request, reply, done) => {
    enterSection('request')
    reply.headers(headers).header('x-request-id', request.id)
    if (stopping)
      done(new Refusal('unavailable', 'The service is stopping.', { retryAfterSeconds: stopWithinMs / 1000 }))
    else done()
  })
  server.addHook('onSend', (_request, reply, payload, done) => {
    // Or the next request would meet the end of the connection, and its sender not know whether it was served.
    if (stopping) reply.header('connection', 'close')
    done(null, payload)
  })
  server.addHook('onResponse', (request, reply, done) => {
    log.info(
      {
        requestId: request.id,
        method: request.method,
        route: request.routeOptions.url,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime),
      },
      'request',
    )
    done()
  })
  nameSections(server)
  if (connectionsMax !== undefined) server.server.maxConnections = connectionsMax
  closeSlowRequests(server, options.bodyTimeoutMs ?? bodyTimeoutMs)
  server.removeContentTypeParser('text/plain')
  readJson(server)
  answerUnknownRoutes(server)
  closeConnectionsOnStop(server, () => {
    stopping = true
  })
  return server
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The route as reports of a blocked event loop name it. */
    section: string
  }
}

/** Enters the section of the route whenever its work continues: after the guards, with the body, and in its handler. */
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

/** A parameter that is empty is one that was left out: forms send all their fields, filled in or not. */
function readQuery(text: string) {
  const pairs = text.split('&').filter((pair) => /=./.test(pair))
  return parse(pairs.join('&'))
}

/**
 * Some clients name a type also where they have nothing to send, as with DELETE. Names that would reach into JavaScript's
 * own objects are left out of what is read.
 */
function readJson(server: Server): void {
  const parseJson = server.getDefaultJsonParser('remove', 'remove')
  server.removeContentTypeParser('application/json')
  server.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    enterSection(request.section)
    if (body.length === 0 && !needsBody(request.routeOptions.schema?.body)) done(null, undefined)
    // Decoding would put U+FFFD for whatever is no character, and that would be stored.
    else if (!isUtf8(body)) done(new Refusal('invalid_json', 'The body is not valid JSON: it is not UTF-8.'))
    else void parseJson(request, body.toString(), done)
  })
}

const needsBody = (schema: unknown) =>
  schema !== undefined && ![(schema as { type?: unknown }).type].flat().includes('null')

/** Unlike any other, and nothing secret: what is random is drawn once. */
function requestIds(): () => string {
  const start = `req_${randomBytes(8).toString('hex')}`
  let count = 0
  return () => `${start}${(++count).toString(36).padStart(6, '0')}`
}

/** Stopping waits for requests under way, not for connections that are kept alive behind them, and not for ever. */
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

/** A path that is no encoded text is taken as it stands, so that the routes answer for it, each in its own way. */
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

/** The strictest that an API needs; pages bring their own content policy. */
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

/** 405 with Allow where the path exists for another method, else 404. */
function answerUnknownRoutes(server: Server): void {
  const routes: { method: string; pattern: RegExp }[] = []
  server.addHook('onRoute', ({ method, url }) => {
    const pattern = new RegExp(
      `^${url
        .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
        .replace(/:[^/]+/g, '[^/]+')
        .replace(/\*$/, '.*')}/?$`,
    )
    if (url !== '/*') for (const each of [method].flat()) routes.push({ method: each, pattern })
  })
  server.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0]!
    const methods = new Set(routes.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method))
    if (methods.size > 0 && !methods.has(request.method)) {
      reply.header('allow', [...methods].sort().join(', '))
      throw new Refusal('method_not_allowed', `${request.method} is not possible here.`)
    }
    throw new Refusal('not_found', 'There is nothing here.')
  })
}
