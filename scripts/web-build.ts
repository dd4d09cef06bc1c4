import { existsSync, statSync } from 'node:fs'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { packageRoot } from '../src/platform/config/package-root.ts'
import { compressFile } from './compress-file.ts'
import { newestMtimeMs } from './newest.ts'
import { replaceDirectory } from './replace-directory.ts'

const web = join(packageRoot, 'web')
const dist = join(web, 'dist')
/** What the web app is built from. */
export const webSources = ['src', 'public', 'index.html', 'vite.config.ts', 'package.json'].map((name) =>
  join(web, name),
)

const compressedKinds = /\.(js|css|svg|html)$/
const compressedFromBytes = 1024

/**
 * Builds the web app if its sources are newer than the last build, and reports it in one line on standard error,
 * because standard output belongs to the following command. If nothing changed, it only walks over web/src.
 */
export async function buildWebWhenStale(): Promise<void> {
  if (newestMtimeMs([...webSources, join(packageRoot, 'package-lock.json')]) > builtMtimeMs()) await buildWeb()
}

async function buildWeb(): Promise<void> {
  process.stderr.write('Building the web app … ')
  const startedAt = Date.now()
  // Loaded lazily, because a restart without a build should not wait for it.
  const { build } = await import('vite')
  // Built in a temporary directory and renamed, so that a running service never serves an incomplete build.
  const next = join(web, `dist.${process.pid}.tmp`)
  try {
    await inProduction(() => build({ root: web, logLevel: 'warn', build: { outDir: next, emptyOutDir: true } }))
    await compress(next)
    await replaceDirectory(next, dist)
  } finally {
    await rm(next, { recursive: true, force: true })
  }
  process.stderr.write(`done in ${((Date.now() - startedAt) / 1000).toFixed(1)} s\n`)
}

/**
 * Vite builds for development if NODE_ENV is set to anything else, as in a test run: about 60 KB more for the first
 * load.
 */
async function inProduction(run: () => Promise<unknown>): Promise<void> {
  const before = process.env.NODE_ENV
  process.env.NODE_ENV = 'production'
  try {
    await run()
  } finally {
    if (before === undefined) delete process.env.NODE_ENV
    else process.env.NODE_ENV = before
  }
}

/** Writes `.br` and `.gz` files next to each text file, which the service sends without compressing itself. */
async function compress(directory: string): Promise<void> {
  const names = await readdir(directory, { recursive: true })
  await Promise.all(
    names
      .filter((name) => compressedKinds.test(name) && name !== 'index.html')
      .map(async (name) => {
        const bytes = await readFile(join(directory, name))
        if (bytes.length >= compressedFromBytes) await compressFile(join(directory, name), bytes)
      }),
  )
}

function builtMtimeMs(): number {
  const index = join(dist, 'index.html')
  return existsSync(index) ? statSync(index).mtimeMs : Number.NEGATIVE_INFINITY
}
