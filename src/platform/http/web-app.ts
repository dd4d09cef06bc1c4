import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyError } from 'fastify'
import { packageRoot } from '../config/package-root.ts'
import { Refusal } from '../values/errors.ts'
import { basePathOf } from './base-path.ts'
import type { Server } from './server.ts'

/**
 * Email previews are shown in frames that inherit this policy, so images may be loaded from anywhere, but scripts may
 * not. Emails and the components of the web app have inline styles. A page with https shows no images with http.
 */
const policyOf = (baseUrl: string) =>
  `default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: https:${baseUrl.startsWith('https:') ? '' : ' http:'}; font-src 'self' data:; connect-src 'self'; frame-src 'self'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'`

/** The first parts of the paths of the web app (`web/src/paths.ts`; a test compares them). */
export const pageNames = [
  'activity',
  'broadcasts',
  'confirm-email',
  'contacts',
  'developers',
  'flows',
  'forgot-password',
  'inbox',
  'invitation',
  'login',
  'messages',
  'register',
  'reset-password',
  'sending',
  'settings',
]
const pagePath = new RegExp(`^/$|^/(${pageNames.join('|')})(/|$)`)
/** Programs call these, whatever they accept. */
const programPath = /^\/(emails|domains|api|public|t|u|docs|providers|assets|health|ready|metrics|openapi\.json)(\/|$)/

const notBuilt =
  '<!doctype html><title>Waxwing</title><p>The web app is not built yet. Run <code>npm run build</code>.</p>'

const builtFolder = join(packageRoot, 'web', 'dist')

/** Serves the web app. Browsers get its page for unknown paths as well, with the status 404. */
export async function registerWebApp(server: Server, baseUrl: () => string, folder = builtFolder): Promise<void> {
  let page: string | undefined
  const readPage = () => {
    const file = join(folder, 'index.html')
    page ??= existsSync(file) ? readFileSync(file, 'utf8') : undefined
    // URLs in the page are relative to its base, so it works with any prefix.
    return page?.replace('<base href="/"', `<base href="${basePathOf(baseUrl())}/"`) ?? notBuilt
  }

  if (existsSync(join(folder, 'assets')))
    await server.register(async (assets) => {
      assets.setErrorHandler<FastifyError>((error) => {
        throw refusalOf(error)
      })
      await assets.register(fastifyStatic, {
        root: join(folder, 'assets'),
        serve: false,
        preCompressed: true,
        acceptRanges: false,
        // File names contain a hash of their content.
        setHeaders: (reply) => reply.header('cache-control', 'public, max-age=31536000, immutable'),
      })
      assets.get<{ Params: { '*': string } }>('/assets/*', {
        config: { permission: 'public' },
        schema: { hide: true },
        handler: ({ params: { '*': file } }, reply) =>
          file.startsWith('/') ? reply.callNotFound() : reply.sendFile(file),
      })
    })

  server.get('/*', {
    config: { permission: 'public' },
    schema: { hide: true },
    handler: async (request, reply) => {
      const path = request.url.split('?', 1)[0]!
      const isPage = pagePath.test(path)
      const isBrowser = request.headers.accept?.includes('text/html') ?? false
      // Browsers request pages without a credential. Clients of other APIs may use the same paths.
      if (!isBrowser && (!isPage || request.headers.authorization !== undefined)) return reply.callNotFound()
      if (!isPage && programPath.test(path)) return reply.callNotFound()
      return reply
        .status(isPage ? 200 : 404)
        .headers({ 'content-security-policy': policyOf(baseUrl()), 'cache-control': 'no-cache' })
        .type('text/html; charset=utf-8')
        .send(readPage())
    },
  })
}

/** Maps client errors of the library, such as dots in the path or a failed precondition, to `not_found`. */
function refusalOf(error: FastifyError): Error {
  const { statusCode = 500 } = error
  return statusCode >= 400 && statusCode < 500 ? new Refusal('not_found', 'Not found.') : error
}
