import swagger from '@fastify/swagger'
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import { version } from '../config/package-root.ts'
import { errorsOnly } from '../http/envelope.ts'
import type { Server } from '../http/server.ts'
import { type DocumentFile, documentFile, sendDocumentFile } from './document-file.ts'
import { openReference, type Reference, sendReferenceFile } from './reference-page.ts'
import type { ApiDocument } from './types.ts'

const json = 'application/json; charset=utf-8'
/** It changes with the version of the service only. */
const documentCache = 'public, max-age=60'

export type DocsOptions = {
  baseUrl: string
  /** Runs before each request for the reference or the document, for example a rate limit. */
  onRequest: onRequestHookHandler
}

/** Returns the OpenAPI document without examples. Loads descriptions when it is first called, because most processes never serve it. */
export async function documentOf(server: Server): Promise<ApiDocument> {
  const { completeDocument } = await import('./document.ts')
  return completeDocument(server.swagger() as unknown as ApiDocument)
}

async function servedDocument(server: Server): Promise<ApiDocument> {
  const { addExamples, readExamples } = await import('./examples.ts')
  const document = await documentOf(server)
  addExamples(document, readExamples())
  return document
}

/**
 * Registers /openapi.json and a browsable reference at /docs, both generated from the schemas of the routes. Call it
 * before any route is registered.
 */
export async function registerDocs(server: Server, { baseUrl, onRequest }: DocsOptions): Promise<void> {
  await server.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Waxwing API',
        version,
        contact: { name: 'Waxwing', url: `${baseUrl.replace(/\/$/, '')}/docs/guides/` },
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

  // Writing the document takes 10 ms of the main thread, and anybody may request it.
  let document: Promise<DocumentFile> | undefined
  server.get(
    '/openapi.json',
    {
      onRequest,
      schema: {
        tags: ['Documentation'],
        operationId: 'getOpenApiDocument',
        summary: 'Get the OpenAPI document',
        description:
          'The OpenAPI 3.1 document from which this reference is built, for code generators and API clients.',
        response: { 200: { type: 'object', additionalProperties: true }, ...errorsOnly },
      },
    },
    async (request, reply) => {
      document ??= servedDocument(server).then((each) => documentFile(json, JSON.stringify(each)))
      return sendDocumentFile(request, reply, await document, { 'cache-control': documentCache })
    },
  )

  const basePath = new URL(baseUrl).pathname.replace(/\/+$/, '')
  let reference: Promise<Reference> | undefined
  const answerDocs = async (request: FastifyRequest, reply: FastifyReply) => {
    const path = request.url.split('?', 1)[0]!
    // The URLs in the page are relative to /docs/.
    if (path === '/docs') return reply.redirect(`${basePath}/docs/`)
    reference ??= openReference(basePath)
    const file = (await reference).get(path.slice('/docs'.length))
    return file ? sendReferenceFile(request, reply, file) : reply.callNotFound()
  }
  server.get('/docs', { onRequest, schema: { hide: true } }, answerDocs)
  server.get('/docs/*', { onRequest, schema: { hide: true } }, answerDocs)
}
