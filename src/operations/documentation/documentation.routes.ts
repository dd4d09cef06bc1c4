import { hash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import { packageRoot } from '../../platform/config/package-root.ts'
import { basePathOf } from '../../platform/http/base-path.ts'
import { errorsOnly } from '../../platform/http/envelope.ts'
import type { Server } from '../../platform/http/server.ts'
import { rememberLast } from '../../platform/runtime/remember-last.ts'
import { type DocumentFile, madeBody, sendDocumentFile, storedBody } from './document-file.ts'

/** Written by scripts/build-documentation.ts. */
const builtFolder = join(packageRoot, 'dist', 'documentation')
/** The entry of a file in `files.json`, by the path of its URL. In templates, `baseUrlMark` stands for the base URL. */
export type BuiltFile = { file: string; type: string; version: string; isTemplate?: boolean }
export const baseUrlMark = 'https://base-url.invalid'

// Scripts are served as files, never inline: an injected script could read the session in the storage of the web app.
const guidePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
const referencePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; base-uri 'self'; frame-ancestors 'none'"

export type DocumentationOptions = {
  baseUrl: () => string
  /** Runs before each request, for example a rate limit. */
  onRequest: onRequestHookHandler
}

/** Serves the API reference at /docs, the guides at /docs/guides, /openapi.json and /llms.txt. */
export function registerDocumentation(server: Server, { baseUrl, onRequest }: DocumentationOptions): void {
  // Read on the first request, since most processes never serve them, and again after a change of the address.
  const filesAt = rememberLast(readFiles)
  const answer = async (request: FastifyRequest, reply: FastifyReply) => {
    const path = request.url.split('?', 1)[0]!
    // The URLs in the pages are relative to these folders.
    if (path === '/docs' || path === '/docs/guides') return reply.redirect(`${basePathOf(baseUrl())}${path}/`)
    const file = filesAt(baseUrl().replace(/\/+$/, '')).get(path)
    return file ? sendDocumentFile(request, reply, file, headersOf(path)) : reply.callNotFound()
  }
  server.get('/openapi.json', {
    config: { permission: 'public' },
    onRequest,
    schema: {
      tags: ['Documentation'],
      operationId: 'getOpenApiDocument',
      summary: 'Get the OpenAPI document',
      description: 'The OpenAPI 3.1 document from which this reference is built, for code generators and API clients.',
      response: { 200: { type: 'object', additionalProperties: true }, ...errorsOnly },
    },
    handler: answer,
  })
  for (const url of ['/docs', '/docs/*', '/llms.txt', '/llms-full.txt'])
    server.get(url, { onRequest, config: { permission: 'public' }, schema: { hide: true }, handler: answer })
}

function headersOf(path: string): Record<string, string> {
  // It changes with the version of the service only.
  if (path === '/openapi.json') return { 'cache-control': 'public, max-age=60' }
  return { 'content-security-policy': path.startsWith('/docs/guides/') ? guidePolicy : referencePolicy }
}

/** Returns all files by their path, or none if the documentation was not built. */
function readFiles(baseUrl: string): Map<string, DocumentFile> {
  const list = join(builtFolder, 'files.json')
  const files: Record<string, BuiltFile> = existsSync(list) ? JSON.parse(readFileSync(list, 'utf8')) : {}
  return new Map(
    Object.entries(files).map(([url, { file, type, version, isTemplate }]) => {
      const path = join(builtFolder, file)
      if (!isTemplate) return [url, { type, version, body: storedBody(path) }]
      const body = madeBody(path, (text) => text.replaceAll(baseUrlMark, baseUrl))
      return [url, { type, version: hash('sha256', `${version} ${baseUrl}`, 'hex').slice(0, 16), body }]
    }),
  )
}
