import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { fastify } from 'fastify'

// Scripts are served as files, never inline: an injected script could read the session in the storage of the web app.
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; base-uri 'self'; frame-ancestors 'none'"
const title = 'Waxwing API'
const brotliQuality = 5

type Encoding = 'identity' | 'gzip' | 'br'
type File = { type: string; version: string; bodies: Record<Encoding, Buffer> }

/** The files of the API reference by their path below /docs. */
export type Reference = Map<string, File>

/**
 * Loads and compresses the reference. Called on the first request, because it takes 36 MB of memory and most processes
 * never serve it. Compression runs in the libuv thread pool, once per process.
 */
export async function openReference(basePath: string): Promise<Reference> {
  const library = await fileOf('application/javascript; charset=utf-8', await readLibrary())
  const start = await fileOf('application/javascript; charset=utf-8', startScript(basePath))
  const page = pageOf(['js/scalar.js', library.version], ['js/start.js', start.version])
  return new Map([
    ['/', await fileOf('text/html; charset=utf-8', page)],
    ['/js/scalar.js', library],
    ['/js/start.js', start],
  ])
}

/** Sends a file in the best encoding that the client accepts, or 304 if the client has it. */
export function sendReferenceFile(request: FastifyRequest, reply: FastifyReply, file: File): FastifyReply {
  const etag = `"${file.version}"`
  // The page references its scripts with a version, so the content of such a URL never changes.
  const isVersioned = (request.query as { v?: unknown }).v === file.version
  reply.headers({
    etag,
    vary: 'accept-encoding',
    'cache-control': isVersioned ? 'public, max-age=31536000, immutable' : 'no-cache',
    'content-security-policy': policy,
  })
  const known = request.headers['if-none-match']?.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  if (known?.includes(etag)) return reply.status(304).send()
  const encoding = encodingFor(request.headers['accept-encoding'])
  if (encoding !== 'identity') reply.header('content-encoding', encoding)
  return reply.type(file.type).send(file.bodies[encoding])
}

function encodingFor(accepted: string | string[] | undefined): Encoding {
  const names = String(accepted ?? '')
    .split(',')
    .filter((part) => !/;\s*q=0(\.0*)?\s*$/.test(part))
    .map((part) => part.split(';', 1)[0]!.trim().toLowerCase())
  return names.includes('br') ? 'br' : names.includes('gzip') ? 'gzip' : 'identity'
}

async function fileOf(type: string, text: string): Promise<File> {
  const identity = Buffer.from(text)
  const [gzipped, br] = await Promise.all([
    promisify(gzip)(identity),
    promisify(brotliCompress)(identity, { params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality } }),
  ])
  return { type, version: hash('sha256', identity, 'hex').slice(0, 16), bodies: { identity, gzip: gzipped, br } }
}

/** The library provides its script only through its plugin. */
async function readLibrary(): Promise<string> {
  const { default: scalar } = await import('@scalar/fastify-api-reference')
  const server = fastify()
  await server.register(scalar, { routePrefix: '/docs', configuration: { url: '/openapi.json' } })
  const { statusCode, payload } = await server.inject({ method: 'GET', url: '/docs/js/scalar.js' })
  await server.close()
  if (statusCode !== 200) throw new Error('The script of the API reference is missing.')
  return payload
}

function startScript(basePath: string): string {
  const configuration = {
    _integration: 'fastify',
    url: `${basePath}/openapi.json`,
    authentication: { preferredSecurityScheme: 'apiKey' },
    withDefaultFonts: false,
    telemetry: false,
    hideClientButton: true,
    showDeveloperTools: 'never',
    agent: { disabled: true },
    mcp: { disabled: true },
  }
  return `Scalar.createApiReference('#app', ${JSON.stringify(configuration)})\n`
}

const pageOf = (...scripts: [path: string, version: string][]) => `<!doctype html>
<html lang="en">
  <head>
    <title>${title}</title>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
  </head>
  <body>
    <div id="app"></div>
${scripts.map(([path, version]) => `    <script src="${path}?v=${version}"></script>`).join('\n')}
  </body>
</html>
`
