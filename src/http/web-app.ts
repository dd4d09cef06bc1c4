import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyError } from 'fastify'
import { packageRoot } from '../config/package-root.ts'
import { Refusal } from '../values/errors.ts'
import type { Server } from './server.ts'

// Mail previews stand in frames that inherit this policy, so pictures may come from anywhere; scripts may not.
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: https: http:; font-src 'self' data:; connect-src 'self'; frame-src 'self'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'"

const notThePages = /^\/(api|public|t|u|docs|providers|assets|health|ready|metrics|openapi\.json)(\/|$)/

const notBuilt =
  '<!doctype html><title>Waxwing</title><p>The web app is not built yet. Run <code>npm run build</code>.</p>'

const builtFolder = join(packageRoot, 'web', 'dist')

/** The web app: its files, and its one page for every path that is no API's. */
export async function registerWebApp(server: Server, baseUrl: string, folder = builtFolder): Promise<void> {
  const basePath = `${new URL(baseUrl).pathname.replace(/\/+$/, '')}/`
  let page: string | undefined
  const readPage = () => {
    const file = join(folder, 'index.html')
    // The page's addresses are relative to its base, so it works under any prefix.
    page ??= existsSync(file)
      ? readFileSync(file, 'utf8').replace('<base href="/"', `<base href="${basePath}"`)
      : undefined
    return page ?? notBuilt
  }

  if (existsSync(join(folder, 'assets')))
    await server.register(async (assets) => {
      assets.setErrorHandler<FastifyError>((error) => {
        throw refusalOf(error)
      })
      await assets.register(fastifyStatic, {
        root: join(folder, 'assets'),
        prefix: '/assets/',
        preCompressed: true,
        acceptRanges: false,
        // File names carry a hash of their content.
        setHeaders: (reply) => reply.header('cache-control', 'public, max-age=31536000, immutable'),
      })
    })

  server.get('/*', { schema: { hide: true } }, async (request, reply) => {
    if (notThePages.test(request.url)) return reply.callNotFound()
    return reply
      .headers({ 'content-security-policy': policy, 'cache-control': 'no-cache' })
      .type('text/html; charset=utf-8')
      .send(readPage())
  })
}

/** What the library blames on the request, such as dots in its path or a condition that does not hold. */
function refusalOf(error: FastifyError): Error {
  const { statusCode = 500 } = error
  return statusCode >= 400 && statusCode < 500 ? new Refusal('not_found', 'There is nothing here.') : error
}
