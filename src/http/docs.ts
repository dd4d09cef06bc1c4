import swagger from '@fastify/swagger'
import { type FastifyReply, type FastifyRequest, fastify, type onRequestHookHandler } from 'fastify'
import { version } from '../root.ts'
import { errorsOnly } from './envelope.ts'
import type { Server } from './server.ts'

/** As the reference lists them: what customers call, what manages it, and what runs it. */
const tagsInOrder = [
  'Public API',
  'Accounts',
  'Organization',
  'Team',
  'API keys',
  'Contacts',
  'Groups',
  'Suppressions',
  'Flows',
  'Messages',
  'Inbox',
  'Events',
  'Webhooks',
  'Deliveries',
  'Sending',
  'Providers',
  'Documentation',
  'Health',
]

export type DocsOptions = {
  baseUrl: string
  /** Runs before each request for the reference or the document, for example a rate limit. */
  onRequest: onRequestHookHandler
}

/**
 * Registers /openapi.json and a browsable reference at /docs, both generated from the schemas of the routes. Call it before
 * any route is registered.
 */
export async function registerDocs(server: Server, { baseUrl, onRequest }: DocsOptions): Promise<void> {
  await server.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Waxwing',
        version,
        description:
          'Email engagement: contacts, flows, events, metrics and webhooks. The public API takes an API key in `X-Api-Token`; the management API takes a JWT.',
      },
      servers: [{ url: baseUrl }],
      tags: tagsInOrder.map((name) => ({ name })),
      components: {
        securitySchemes: {
          apiKey: { type: 'apiKey', in: 'header', name: 'X-Api-Token' },
          session: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        },
      },
    },
    // Routes that name no credential need none: a test asks each of them without.
    transform: ({ schema, url, route: { method } }) => ({
      schema: { security: [], ...schema, operationId: operationIdOf(String(method), url) },
      url,
    }),
    refResolver: {
      buildLocalReference: (json, _base, _fragment, i) => (typeof json.$id === 'string' ? json.$id : `def-${i}`),
    },
  })

  server.get(
    '/openapi.json',
    {
      onRequest,
      schema: {
        tags: ['Documentation'],
        summary: 'This document',
        response: { 200: { type: 'object', additionalProperties: true }, ...errorsOnly },
      },
    },
    async () => server.swagger(),
  )

  const basePath = new URL(baseUrl).pathname.replace(/\/+$/, '')
  let reference: Promise<Server> | undefined
  const answerDocs = async (request: FastifyRequest, reply: FastifyReply) => {
    // The page's addresses are relative to its folder.
    if (request.url.split('?', 1)[0] === '/docs') return reply.redirect(`${basePath}/docs/`)
    reference ??= openReference(basePath)
    const answer = await (await reference).inject({ method: 'GET', url: request.url })
    if (answer.statusCode === 404) return reply.callNotFound()
    const type = String(answer.headers['content-type'] ?? 'text/plain')
    return reply
      .status(answer.statusCode)
      .headers({ 'content-type': type, 'content-security-policy': policy })
      .send(answer.rawPayload)
  }
  server.get('/docs', { onRequest, schema: { hide: true } }, answerDocs)
  server.get('/docs/*', { onRequest, schema: { hide: true } }, answerDocs)
}

/**
 * The name of an operation in generated clients: the method and the path, `patchWebhooksId`, with `list` for what gives
 * many. A path of the public API ends in what it does, and that is its name: `sendEmailThroughFlow`.
 */
function operationIdOf(method: string, path: string): string {
  const parts = path.replace(/^(\/public)?\/api\/v1\/(organization\/(?=\w))?/, '').match(/[\w-]+/g) ?? []
  const last = parts.at(-1) ?? ''
  if (path.startsWith('/public/')) return inCamelCase(last.includes('-') ? [last] : [last, ...parts.slice(0, -1)])
  const givesMany = method === 'GET' && last.endsWith('s')
  return inCamelCase([givesMany ? 'list' : method.toLowerCase(), ...parts])
}

const inCamelCase = (parts: string[]) =>
  parts.join('-').replace(/[-_]+(\w)/g, (_, letter: string) => letter.toUpperCase())

// The reference is a page with its own script and styles, all served from here.
const policy =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; base-uri 'self'; frame-ancestors 'none'"

/** Loaded when somebody first looks: the reference takes 36 MB of memory, and most processes are never asked for it. */
async function openReference(basePath: string): Promise<Server> {
  const { default: scalar } = await import('@scalar/fastify-api-reference')
  const server = fastify()
  await server.register(scalar, {
    routePrefix: '/docs',
    configuration: {
      pageTitle: 'Waxwing API',
      url: `${basePath}/openapi.json`,
      authentication: { preferredSecurityScheme: 'apiKey' },
      withDefaultFonts: false,
      telemetry: false,
      hideClientButton: true,
      showDeveloperTools: 'never',
      agent: { disabled: true },
      mcp: { disabled: true },
    },
  })
  await server.ready()
  return server
}
