import { readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { packageRoot } from '../src/platform/config/package-root.ts'
import { migrationsFolder, newestMigration } from '../src/platform/db/newest-migration.ts'
import { newestMtimeMs } from './newest.ts'
import { replaceDirectory } from './replace-directory.ts'

const dist = join(packageRoot, 'dist')
const target = join(dist, 'bin')
const packages = join(packageRoot, 'packages')
const sources = [
  join(dist, 'src'),
  join(packageRoot, 'sdk/dist'),
  ...readdirSync(packages).map((name) => join(packages, name, 'dist')),
  join(packageRoot, 'package-lock.json'),
  migrationsFolder,
]

/** The service, and its child processes. */
const programs = ['cli', 'task-process', 'sending-process']

/**
 * Our own packages, which no registry has, and packages of many ES modules. The others are single files or CommonJS, which Node
 * loads faster.
 */
const bundled = /^(?:@waxwing\/|typebox|jose|postal-mime|csv-parse)/

/**
 * Writes the compiled service to dist/bin, its modules combined into few files: Node takes a millisecond to load a
 * module, and the service consists of a thousand. Does nothing if no compiled file has changed.
 */
export async function bundleWhenStale(): Promise<void> {
  if (!isStale()) return
  // Loaded lazily, because a start without changes should not wait for it.
  const { build } = await import('rolldown')
  // Moved when complete, so that a process never starts from an incomplete directory.
  const next = join(dist, `bin.${process.pid}.tmp`)
  try {
    await build({
      input: Object.fromEntries(programs.map((name) => [name, join(dist, `src/${name}.js`)])),
      platform: 'node',
      // Programs do what they do when functions are called, so a process loads only what it can call.
      treeshake: {
        moduleSideEffects: (id) => id.includes('/typebox/') || programs.includes(basename(id, '.js')),
      },
      transform: { define: { newestMigrationAtBuild: String(newestMigration) } },
      external: (id) => !/^[./]/.test(id) && !bundled.test(id),
      output: { dir: next, format: 'esm', entryFileNames: '[name].js' },
      logLevel: 'warn',
    })
    // Another process may have built the same in the meantime, and may be starting from it.
    if (isStale()) await replaceDirectory(next, target)
  } finally {
    await rm(next, { recursive: true, force: true })
  }
}

const isStale = () => newestMtimeMs(sources) > newestMtimeMs([join(target, 'cli.js')])
