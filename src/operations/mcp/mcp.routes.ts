import { randomUUID } from 'node:crypto'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest, onRequestHookHandler, RouteOptions } from 'fastify'
import { Type } from 'typebox'
import { keyOf, keyTextOf } from '../../accounts/accounts.ts'
import type { Server } from '../../platform/http/server.ts'
import type { Log } from '../../platform/runtime/log.ts'
import { RateLimit } from '../../platform/runtime/rate-limit.ts'
import { Refusal } from '../../platform/values/errors.ts'
import type { Confirmations } from './confirmations.ts'
import type { Answerer } from './mcp-server.ts'
import { listedTools } from './tool-list.ts'
import type { ToolRoutes } from './tools.ts'

/** Tools accept templates. */
const bodyBytesMax = 512 * 1024
/** A message takes 2 to 3 ms of CPU time, of which the protocol takes most. Of an organization, per process. */
const messagesPerSecond = 20
const messagesAtOnce = 100
/** Says that the client can ask its user. Sessions are not stored, so their ids say all that is known about them. */
const askingSession = 'asks-'

/** Collects the routes of the tools. Call it before the routes are registered. */
export function collectToolRoutes(server: Server): ToolRoutes {
  const wanted = new Set(listedTools.map(({ operationId }) => operationId))
  const routes = new Map<string, RouteOptions>()
  server.addHook('onRoute', (route) => {
    const { operationId } = (route.schema ?? {}) as { operationId?: string }
    // The HEAD route of a GET has the same operation id.
    if (operationId !== undefined && wanted.has(operationId) && route.method !== 'HEAD') routes.set(operationId, route)
  })
  return routes
}

export type McpRouteParts = {
  server: Server
  routes: ToolRoutes
  confirmations: Confirmations
  log: Log
  baseUrl: () => string
  /** The guard of the public API. */
  requireApiKey: onRequestHookHandler
}

/** The MCP server: Streamable HTTP, without a stored session. */
export function mcpRoutes(parts: McpRouteParts): FastifyPluginAsyncTypebox {
  const { confirmations, requireApiKey } = parts
  const checkOrigin = originCheck(parts.baseUrl)
  const limit = new RateLimit({
    perSecond: messagesPerSecond,
    burst: messagesAtOnce,
    message: `MCP clients of an organization may send ${messagesPerSecond} messages a second. Slow down and try again.`,
  })
  let answerer: Promise<Answerer> | undefined
  const loadAnswerer = async () => (await import('./mcp-server.ts')).createAnswerer(parts)
  return async (api) => {
    api.addHook('preClose', async () => confirmations.stop())
    api.post('/mcp', {
      onRequest: [checkOrigin, requireApiKey],
      bodyLimit: bodyBytesMax,
      config: { permission: 'apiKey', recordsFailuresOnly: true },
      schema: { hide: true, body: Type.Unknown() },
      handler: async (request, reply) => {
        const key = keyOf(request)
        limit.take(key.organizationId)
        const message = messageOf(request.body)
        if (isAnswer(message)) {
          const { action = 'cancel', content } = message.result ?? {}
          await confirmations.answer(key, message.id, { action, content: content ?? {} })
          return reply.status(202).send()
        }
        // A failed import is tried again by the next request.
        answerer ??= loadAnswerer().catch((error) => {
          answerer = undefined
          throw error
        })
        const answer = await answerer
        const session = request.headers['mcp-session-id']
        const response = await answer(
          {
            key,
            caller: { apiKey: keyTextOf(request)!, address: request.ip },
            message,
            canAsk: typeof session === 'string' && session.startsWith(askingSession),
            protocolVersion: headerOf(request, 'mcp-protocol-version'),
          },
          (close) => reply.raw.once('close', close),
        )
        if (isInitialize(message))
          reply.header('mcp-session-id', `${asks(message) ? askingSession : ''}${randomUUID()}`)
        return reply.send(response)
      },
    })
    // There is no stream of its own for messages of the server, and no session to end.
    api.route({
      method: ['GET', 'DELETE'],
      url: '/mcp',
      exposeHeadRoute: false,
      config: { permission: 'public' },
      schema: { hide: true },
      handler: async (_request, reply) => {
        reply.header('allow', 'POST')
        throw new Refusal('method_not_allowed', 'Send messages with POST.')
      },
    })
  }
}

/** A page in a browser must not reach this server through a host name that resolves to it (DNS rebinding). */
function originCheck(baseUrl: () => string): onRequestHookHandler {
  return (request, _reply, done) => {
    const { origin } = request.headers
    done(
      origin === undefined || origin === new URL(baseUrl()).origin
        ? undefined
        : new Refusal('forbidden', 'Requests from pages of other origins are not accepted.'),
    )
  }
}

type Message = {
  id?: unknown
  method?: unknown
  params?: { capabilities?: { elicitation?: { form?: unknown; url?: unknown } } }
  result?: { action?: string; content?: Record<string, unknown> }
  error?: unknown
}

function messageOf(body: unknown): Message {
  if (Array.isArray(body))
    throw new Refusal('validation_failed', 'Batches are not supported. Send one JSON-RPC message per request.')
  if (typeof body !== 'object' || body === null)
    throw new Refusal('validation_failed', 'The body must be a JSON-RPC message.')
  return body
}

const isAnswer = ({ method, result, error }: Message) => method === undefined && (result ?? error) !== undefined
const isInitialize = ({ method }: Message) => method === 'initialize'

/** An empty object stands for forms, as in the first version of elicitation. */
function asks({ params }: Message): boolean {
  const elicitation = params?.capabilities?.elicitation
  return !!elicitation && (elicitation.form !== undefined || elicitation.url === undefined)
}

const headerOf = ({ headers }: FastifyRequest, name: string): string | undefined => {
  const value = headers[name]
  return typeof value === 'string' ? value : undefined
}
