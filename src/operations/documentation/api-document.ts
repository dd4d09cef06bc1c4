import { version } from '../../platform/config/package-root.ts'
import type { Server } from '../../platform/http/server.ts'
import type { ApiDocument } from '../../platform/http/types.ts'

/** In docs/openapi.json. The served document has the base URL of the installation. */
const baseUrl = 'http://localhost:3000'

/** Collects the schemas of all routes that are registered afterwards, for `documentOf`. */
export async function describeApi(server: Server): Promise<void> {
  // Loaded lazily, because processes serve the document that was built from the committed one.
  const { default: swagger } = await import('@fastify/swagger')
  await server.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Waxwing API',
        version,
        contact: { name: 'Waxwing', url: `${baseUrl}/docs/guides/` },
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: baseUrl }],
      components: {
        securitySchemes: {
          apiKey: {
            type: 'apiKey',
            in: 'header',
            name: 'X-Api-Token',
            description: 'An API key (`wxk_…`). It can also be sent as `Authorization: Bearer wxk_…`.',
          },
          session: {
            type: 'http',
            scheme: 'bearer',
            bearerFormat: 'JWT',
            description: 'A session token from `POST /api/v1/auth/login`.',
          },
        },
      },
    },
    // Routes without a security scheme are public; a test requests each of them without a credential.
    transform: ({ schema, url }) => ({
      schema: { security: [], ...schema, ...(schema?.errors && { 'x-errors': schema.errors }) },
      url,
    }),
    refResolver: {
      buildLocalReference: (json, _base, _fragment, i) => (typeof json.$id === 'string' ? json.$id : `def-${i}`),
    },
  })
}

/** Returns the OpenAPI document of a server that `describeApi` was called for. It has no examples. */
export async function documentOf(server: Server): Promise<ApiDocument> {
  const { completeDocument } = await import('./complete-document.ts')
  return completeDocument(server.swagger() as unknown as ApiDocument)
}
