import swagger from '@fastify/swagger'
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import { version } from '../config/package-root.ts'
import { errorsOnly } from './envelope.ts'
import { openReference, type Reference, sendReferenceFile } from './reference.ts'
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
  let reference: Promise<Reference> | undefined
  const answerDocs = async (request: FastifyRequest, reply: FastifyReply) => {
    const path = request.url.split('?', 1)[0]!
    // The addresses in the page are relative to its folder.
    if (path === '/docs') return reply.redirect(`${basePath}/docs/`)
    reference ??= openReference(basePath)
    const file = (await reference).get(path.slice('/docs'.length))
    return file ? sendReferenceFile(request, reply, file) : reply.callNotFound()
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
