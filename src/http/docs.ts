import swagger from '@fastify/swagger'
import scalar from '@scalar/fastify-api-reference'
import { version } from '../root.ts'
import { errorsOnly } from './envelope.ts'
import type { Server } from './server.ts'

/** /openapi.json and a browsable reference at /docs, both from the schemas of the routes. Before any route. */
export async function registerDocs(server: Server, baseUrl: string): Promise<void> {
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
      components: {
        securitySchemes: {
          apiKey: { type: 'apiKey', in: 'header', name: 'X-Api-Token' },
          session: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        },
      },
    },
    refResolver: {
      buildLocalReference: (json, _base, _fragment, i) => (typeof json.$id === 'string' ? json.$id : `def-${i}`),
    },
  })

  server.get(
    '/openapi.json',
    {
      schema: {
        tags: ['Documentation'],
        summary: 'This document',
        response: { 200: { type: 'object', additionalProperties: true }, ...errorsOnly },
      },
    },
    async () => server.swagger(),
  )

  await server.register(async (docs) => {
    // The reference is a page with its own script and styles, all served from here.
    docs.addHook('onSend', async (_request, reply) => {
      reply.header(
        'content-security-policy',
        "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; base-uri 'self'; frame-ancestors 'none'",
      )
    })
    await docs.register(scalar, {
      routePrefix: '/docs',
      logLevel: 'silent',
      configuration: {
        url: `${new URL(baseUrl).pathname.replace(/\/+$/, '')}/openapi.json`,
        withDefaultFonts: false,
        telemetry: false,
        hideClientButton: true,
        agent: { disabled: true },
      },
    })
  })
}
