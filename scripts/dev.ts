import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { watch } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../src/platform/config/package-root.ts'
import { bundleWhenStale } from './bundle.ts'
import { buildDocumentationWhenStale } from './documentation-build.ts'

/**
 * `npm run dev`: compiles the service and restarts it after each change, and serves the web app with hot reload. The
 * web app forwards the paths of the service, so that both have one address.
 */

const webPort = 5173
const forwarded = [
  '/api',
  '/public',
  '/t/',
  '/u/',
  '/docs',
  '/openapi.json',
  '/providers',
  '/health',
  '/ready',
  '/metrics',
]
const servicePort = process.env.PORT ?? '3000'
const environment = { BASE_URL: `http://localhost:${webPort}`, ...process.env, PORT: servicePort }

let service: ChildProcess | undefined
let isRestarting = false
let isOutdated = false
let isStopping = false

/** Stops the running service, which shuts down its embedded database, and starts the new one. */
async function restart(): Promise<void> {
  isOutdated = true
  if (isRestarting) return
  isRestarting = true
  while (isOutdated && !isStopping) {
    isOutdated = false
    await stopService()
    await bundleWhenStale()
    await buildDocumentationWhenStale()
    service = spawn(process.execPath, [join(packageRoot, 'dist/bin/cli.js'), 'start'], {
      cwd: packageRoot,
      env: environment,
      stdio: 'inherit',
    })
  }
  isRestarting = false
}

async function stopService(): Promise<void> {
  if (!service || service.exitCode !== null || service.signalCode !== null) return
  const exited = once(service, 'exit')
  service.kill('SIGTERM')
  await exited
}

function compile(): ChildProcess {
  const tsc = join(packageRoot, 'node_modules/.bin/tsc')
  const compiler = spawn(tsc, ['-b', 'tsconfig.build.json', '--watch', '--preserveWatchOutput'], {
    cwd: packageRoot,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  compiler.stdout!.setEncoding('utf8').on('data', (text: string) => {
    process.stdout.write(text.replace(/\n\n/g, '\n'))
    if (text.includes('Found 0 errors')) void restart()
  })
  return compiler
}

const { createServer } = await import('vite')
const web = await createServer({
  root: join(packageRoot, 'web'),
  server: {
    port: webPort,
    strictPort: true,
    proxy: Object.fromEntries(forwarded.map((path) => [path, `http://127.0.0.1:${servicePort}`])),
  },
})
await web.listen()
// The service reads migrations from the sources, and the documentation from what is built.
const watched = ['src/platform/db/migrations', 'docs'].map((folder) =>
  watch(join(packageRoot, folder), { recursive: true }, () => void restart()),
)
const compiler = compile()

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, async () => {
    isStopping = true
    compiler.kill()
    for (const watcher of watched) watcher.close()
    await Promise.all([stopService(), web.close()])
    process.exit()
  })
