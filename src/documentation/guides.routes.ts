import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { Server } from '../http/server.ts'
import { type Catalog, guidesFolder, readCatalog } from './catalog.ts'
import { type DocumentFile, documentFile, sendDocumentFile } from './document-file.ts'
import { guidePage } from './guide-page.ts'
import { llmsFullText, llmsText } from './llms.ts'
import type { RenderedGuide } from './render-guide.ts'

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const html = 'text/html; charset=utf-8'
const plain = 'text/plain; charset=utf-8'
const markdownType = 'text/markdown; charset=utf-8'

export type GuideRouteOptions = {
  baseUrl: string
  /** Runs before each request, for example a rate limit. */
  onRequest: onRequestHookHandler
}

/** Serves the guides at /docs/guides, as HTML and Markdown, with a search index, and /llms.txt. */
export async function registerGuides(server: Server, { baseUrl, onRequest }: GuideRouteOptions): Promise<void> {
  const basePath = new URL(baseUrl).pathname.replace(/\/+$/, '')
  // Rendered on the first request: most processes never serve the guides.
  let files: Promise<Map<string, DocumentFile>> | undefined
  const answer = async (request: FastifyRequest, reply: FastifyReply) => {
    const path = request.url.split('?', 1)[0]!
    // The URLs in the pages are relative to /docs/guides/.
    if (path === '/docs/guides') return reply.redirect(`${basePath}/docs/guides/`)
    files ??= renderFiles(readCatalog(), baseUrl)
    const file = (await files).get(path)
    return file ? sendDocumentFile(request, reply, file, { 'content-security-policy': policy }) : reply.callNotFound()
  }
  for (const url of ['/docs/guides', '/docs/guides/*', '/llms.txt', '/llms-full.txt'])
    server.get(url, { onRequest, schema: { hide: true } }, answer)
}

/** Returns all files by their path. */
async function renderFiles(catalog: Catalog | undefined, baseUrl: string): Promise<Map<string, DocumentFile>> {
  const files = new Map<string, DocumentFile>()
  if (!catalog) return files
  const { renderGuide } = await import('./render-guide.ts')
  const add = async (path: string, type: string, text: string) => {
    const file = await documentFile(type, text)
    files.set(path, file)
    return file.version
  }
  const asset = async (name: string, type: string, text = readAsset(name)) =>
    `${name}?v=${await add(`/docs/guides/${name}`, type, text)}`

  const guides = catalog.sections.flatMap((section) => section.guides)
  const rendered: RenderedGuide[] = []
  for (const guide of guides) {
    rendered.push(renderGuide(guide.name, guide.title, guide.markdown))
    // A guide takes tens of milliseconds, and anybody may request the first one.
    await setImmediate()
  }
  const entries = rendered.flatMap((one) => one.entries)
  const index = await asset('search-index.json', 'application/json; charset=utf-8', JSON.stringify(entries))
  const assets = {
    style: await asset('guides.css', 'text/css; charset=utf-8'),
    script: await asset(
      'guides.js',
      'application/javascript; charset=utf-8',
      readAsset('guides.js').replace('search-index.json', index),
    ),
  }
  await asset('logo.svg', 'image/svg+xml')

  const overview = renderGuide('', '', catalog.markdown)
  await add('/docs/guides/', html, guidePage(catalog, assets, undefined, overview))
  await add('/docs/guides/README.md', markdownType, catalog.markdown)
  for (const [at, guide] of guides.entries()) {
    await add(`/docs/guides/${guide.name}`, html, guidePage(catalog, assets, guide, rendered[at]!))
    await add(`/docs/guides/${guide.name}.md`, markdownType, guide.markdown)
  }
  await add('/llms.txt', plain, llmsText(catalog, baseUrl))
  await add('/llms-full.txt', plain, llmsFullText(catalog))
  return files
}

const readAsset = (name: string) => readFileSync(join(guidesFolder, 'assets', name), 'utf8')
