import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type BuiltFile, baseUrlMark } from '../src/operations/documentation/documentation.routes.ts'
import { packageRoot } from '../src/platform/config/package-root.ts'
import type { ApiDocument } from '../src/platform/http/types.ts'
import { compressFile } from './compress-file.ts'
import { newestMtimeMs } from './newest.ts'
import { replaceDirectory } from './replace-directory.ts'

const docs = join(packageRoot, 'docs')
const target = join(packageRoot, 'dist', 'documentation')
const library = join(packageRoot, 'node_modules/@scalar/fastify-api-reference/package.json')
/** What the documentation is built from. */
const sources = [
  ...['guides', 'reference', 'openapi.json'].map((name) => join(docs, name)),
  ...['documentation', 'documentation-build.ts'].map((name) => join(packageRoot, 'scripts', name)),
]

const html = 'text/html; charset=utf-8'
const css = 'text/css; charset=utf-8'
const script = 'application/javascript; charset=utf-8'
const plain = 'text/plain; charset=utf-8'
const markdown = 'text/markdown; charset=utf-8'
const json = 'application/json; charset=utf-8'

/** Writes the files that the service serves below /docs to dist/documentation, if their sources are newer. */
export async function buildDocumentationWhenStale(): Promise<void> {
  const builtMs = newestMtimeMs([join(target, 'files.json')])
  if (newestMtimeMs([...sources, library]) <= builtMs) return
  // Moved when complete, so that a service never reads an incomplete directory.
  const next = `${target}.${process.pid}.tmp`
  await mkdir(next, { recursive: true })
  try {
    const output = new Output(next)
    const logo = readFileSync(join(docs, 'guides/assets/logo.svg'), 'utf8')
    await output.add('/docs/guides/logo.svg', 'image/svg+xml', logo)
    await buildReference(output)
    await buildGuides(output)
    await output.close()
    await replaceDirectory(next, target)
  } finally {
    await rm(next, { recursive: true, force: true })
  }
}

/** The files of a build. */
class Output {
  readonly #folder: string
  readonly #files: Record<string, BuiltFile> = {}

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Writes a file that is served at `url`. Returns its URL with the version, relative to the folder of the URL. */
  async add(url: string, type: string, text: string, { isTemplate = false } = {}): Promise<string> {
    const version = createHash('sha256').update(text).digest('hex').slice(0, 16)
    // Named by its content, so that an unchanged file is not compressed again: that of the library takes two seconds.
    const name = url.split('/').at(-1)!
    const file = `${version}-${name || 'index.html'}`
    await Promise.all(
      ['.br', '.gz'].map(async (extension) => {
        const known = join(target, `${file}${extension}`)
        if (existsSync(known)) await copyFile(known, join(this.#folder, `${file}${extension}`))
      }),
    )
    if (!existsSync(join(this.#folder, `${file}.gz`))) await compressFile(join(this.#folder, file), Buffer.from(text))
    this.#files[url] = { file, type, version, ...(isTemplate && { isTemplate }) }
    return `${name}?v=${version}`
  }

  async close(): Promise<void> {
    await writeFile(join(this.#folder, 'files.json'), JSON.stringify(this.#files))
  }
}

/** The OpenAPI document with examples, and the page that shows it. */
async function buildReference(output: Output): Promise<void> {
  const { addExamples, readExamples } = await import('./documentation/examples.ts')
  const { readLibrary, referencePage, startScript } = await import('./documentation/reference-page.ts')
  const asset = (name: string) => readFileSync(join(docs, 'reference/assets', name), 'utf8')
  const committed = readFileSync(join(docs, 'openapi.json'), 'utf8')
  const { servers } = JSON.parse(committed) as ApiDocument
  const document: ApiDocument = JSON.parse(committed.replaceAll(servers[0]!.url, baseUrlMark))
  addExamples(document, readExamples())
  // The list of models shows records, not the envelopes around them.
  for (const schema of Object.values(document.components.schemas)) if (schema.allOf) schema['x-scalar-ignore'] = true
  await output.add('/openapi.json', json, JSON.stringify(document), { isTemplate: true })
  const style = await output.add('/docs/reference.css', css, asset('reference.css'))
  const start = `${asset('accessibility.js')}\n${startScript(asset('theme.css'))}`
  const scripts = [
    await output.add('/docs/js/scalar.js', script, await readLibrary()),
    await output.add('/docs/js/start.js', script, start),
  ]
  await output.add('/docs/', html, referencePage(style, ...scripts.map((name) => `js/${name}`)))
}

/** The guides as HTML and Markdown, with a search index, and /llms.txt. */
async function buildGuides(output: Output): Promise<void> {
  const { readCatalog } = await import('./documentation/catalog.ts')
  const { guidePage } = await import('./documentation/guide-page.ts')
  const { llmsFullText, llmsText } = await import('./documentation/llms.ts')
  const { renderGuide } = await import('./documentation/render-guide.ts')
  const asset = (name: string) => readFileSync(join(docs, 'guides/assets', name), 'utf8')
  const catalog = readCatalog()
  const guides = catalog.sections.flatMap((section) => section.guides)
  const rendered = guides.map((guide) => renderGuide(guide.name, guide.title, guide.markdown))
  const entries = rendered.flatMap((one) => one.entries)
  const index = await output.add('/docs/guides/search-index.json', json, JSON.stringify(entries))
  const assets = {
    style: await output.add('/docs/guides/guides.css', css, asset('guides.css')),
    script: await output.add('/docs/guides/guides.js', script, asset('guides.js').replace('search-index.json', index)),
  }
  const overview = renderGuide('', '', catalog.markdown)
  await output.add('/docs/guides/', html, guidePage(catalog, assets, undefined, overview))
  await output.add('/docs/guides/README.md', markdown, catalog.markdown)
  for (const [at, guide] of guides.entries()) {
    await output.add(`/docs/guides/${guide.name}`, html, guidePage(catalog, assets, guide, rendered[at]!))
    await output.add(`/docs/guides/${guide.name}.md`, markdown, guide.markdown)
  }
  await output.add('/llms.txt', plain, llmsText(catalog, baseUrlMark), { isTemplate: true })
  await output.add('/llms-full.txt', plain, llmsFullText(catalog))
}
