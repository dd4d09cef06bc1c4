import type { FastifyReply, FastifyRequest } from 'fastify'
import { fastify } from 'fastify'
import { type DocumentFile, documentFile, sendDocumentFile } from './document-file.ts'
import { accessibilityScript } from './reference-accessibility.ts'
import { pageStyle, referenceStyle } from './reference-style.ts'

// Scripts are served as files, never inline: an injected script could read the session in the storage of the web app.
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; base-uri 'self'; frame-ancestors 'none'"
const title = 'Waxwing API'

/** The files of the API reference by their path below /docs. */
export type Reference = Map<string, DocumentFile>

/**
 * Loads and compresses the reference. Called on the first request, because it takes 36 MB of memory and most processes
 * never serve it. Compression runs in the libuv thread pool, once per process.
 */
export async function openReference(basePath: string): Promise<Reference> {
  const library = await documentFile('application/javascript; charset=utf-8', await readLibrary())
  const start = await documentFile('application/javascript; charset=utf-8', startScript(basePath))
  const style = await documentFile('text/css; charset=utf-8', pageStyle)
  const page = pageOf(
    `reference.css?v=${style.version}`,
    ['js/scalar.js', library.version],
    ['js/start.js', start.version],
  )
  return new Map([
    ['/', await documentFile('text/html; charset=utf-8', page)],
    ['/reference.css', style],
    ['/js/scalar.js', library],
    ['/js/start.js', start],
  ])
}

export function sendReferenceFile(request: FastifyRequest, reply: FastifyReply, file: DocumentFile): FastifyReply {
  return sendDocumentFile(request, reply, file, { 'content-security-policy': policy })
}

/** The library provides its script only through its plugin. */
async function readLibrary(): Promise<string> {
  const { default: scalar } = await import('@scalar/fastify-api-reference')
  const server = fastify()
  await server.register(scalar, { routePrefix: '/docs', configuration: { url: '/openapi.json' } })
  const { statusCode, payload } = await server.inject({ method: 'GET', url: '/docs/js/scalar.js' })
  await server.close()
  if (statusCode !== 200) throw new Error('The script of the API reference is missing.')
  // The library shows a joke in the field for the API key.
  return payload.replaceAll('QUxMIFlPVVIgQkFTRSBBUkUgQkVMT05HIFRPIFVT', 'Your API key')
}

function startScript(basePath: string): string {
  const configuration = {
    _integration: 'fastify',
    url: `${basePath}/openapi.json`,
    authentication: { preferredSecurityScheme: 'apiKey' },
    customCss: referenceStyle,
    // Every operation has samples of its own.
    hiddenClients: true,
    withDefaultFonts: false,
    telemetry: false,
    hideClientButton: true,
    showDeveloperTools: 'never',
    agent: { disabled: true },
    mcp: { disabled: true },
  }
  return `${accessibilityScript}\nScalar.createApiReference('#app', ${JSON.stringify(configuration)})\n`
}

const pageOf = (style: string, ...scripts: [path: string, version: string][]) => `<!doctype html>
<html lang="en">
  <head>
    <title>${title}</title>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta name="description" content="Every operation and webhook event of the Waxwing API, with examples.">
    <link rel="icon" href="guides/logo.svg" type="image/svg+xml">
    <link rel="stylesheet" href="${style}">
  </head>
  <body>
    <header class="top">
      <a class="brand" href="../http/"><img src="guides/logo.svg" alt="" width="28" height="28">Waxwing <span>API reference</span></a>
      <nav aria-label="Waxwing"><a href="guides/">Guides</a><a href="../">Open the app</a></nav>
    </header>
    <div id="app"></div>
${scripts.map(([path, version]) => `    <script src="${path}?v=${version}"></script>`).join('\n')}
  </body>
</html>
`
