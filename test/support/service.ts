import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { seeded } from './seeded.ts'
import { callUrl } from './test-app.ts'
import { until } from './until.ts'

/** Generous, because tests that kill processes run in parallel on small machines. */
const startMsMax = 120_000

export type Service = AsyncDisposable & {
  url: string
  /** Kills the process and waits until it has exited. */
  kill(): Promise<void>
  start(): Promise<void>
  /** Resolves when the process has exited. */
  ended(): Promise<void>
  /** Returns the running process. Throws if it has exited. */
  pid(): number
  /** Standard output since the last start, including the log. */
  output(): string
}

/** Below the ports that the system gives to outgoing connections, which could occupy one before the service starts. */
const portMin = 12_000
const portMax = 31_999
const ports = seeded(process.pid)
/** Each worker has its own ports, because a port is free until its service listens. */
const workersMax = 8
const worker = Number(process.env.VITEST_POOL_ID ?? 0) % workersMax
const given = new Set<number>()

export async function freePort(): Promise<number> {
  for (;;) {
    const port = ports.int(portMin / workersMax, (portMax + 1) / workersMax - 1) * workersMax + worker
    if (given.has(port)) continue
    const server = createServer().listen(port, '127.0.0.1')
    const isFree = await new Promise((resolve) => {
      server.once('listening', () => resolve(true)).once('error', () => resolve(false))
    })
    if (!isFree) continue
    await new Promise((resolve) => server.close(resolve))
    given.add(port)
    return port
  }
}

/** Creates a directory that the database user can access, even if the tests run as root. */
export function makeDataDir(): string {
  const folder = mkdtempSync(join(tmpdir(), 'waxwing-service-'))
  chmodSync(folder, 0o711)
  return folder
}

/**
 * Starts the compiled service as a separate process, from the folder of another release with `program`. With `fileKiBMax`,
 * no file that it writes can exceed that size.
 */
export async function startService(
  command: 'start' | 'serve' | 'work',
  environment: Record<string, string>,
  { fileKiBMax, program: folder = '.' }: { fileKiBMax?: number; program?: string } = {},
): Promise<Service> {
  const port = await freePort()
  const ownDataDir = environment.DATA_DIR ? undefined : makeDataDir()
  const env = {
    PATH: process.env.PATH ?? '',
    PORT: String(port),
    LOG_LEVEL: 'error',
    SIGNUP: 'open',
    REQUIRE_VERIFIED_DOMAINS: 'false',
    RATE_LIMIT_PER_SECOND: '0',
    SIGNUPS_PER_HOUR: '0',
    EGRESS_ALLOW_PRIVATE: 'true',
    APP_SECRET: 'a secret that several processes of a test share',
    ...(ownDataDir ? { DATA_DIR: ownDataDir } : {}),
    ...environment,
  }
  let child: ChildProcess | undefined
  let output = ''
  const service: Service = {
    url: `http://127.0.0.1:${port}`,
    start: async () => {
      const words = [process.execPath, join(folder, 'dist/bin/cli.js'), command]
      // Writes beyond the limit fail, like on a full disk. Works without privileges.
      const limited = ['bash', '-c', `trap '' XFSZ; ulimit -f ${fileKiBMax}; exec "$0" "$@"`, ...words]
      const [program, ...rest] = (fileKiBMax === undefined ? words : limited) as [string, ...string[]]
      child = spawn(program, rest, { env, stdio: ['ignore', 'pipe', 'inherit'] })
      const started = child
      output = ''
      child.stdout!.on('data', (chunk) => {
        output += chunk
      })
      await until(
        `${command} to be ready`,
        () => {
          if (started.exitCode !== null) throw new Error(`The service exited with ${started.exitCode}.`)
          return output.includes('is ready')
        },
        startMsMax,
      ).catch(async (error: unknown) => {
        await service.kill()
        throw error
      })
    },
    pid: () => {
      if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null)
        throw new Error(`The service exited: ${child?.exitCode ?? child?.signalCode}\n${output.slice(-2_000)}`)
      return child.pid
    },
    output: () => output,
    ended: async () => {
      if (!child || child.exitCode !== null || child.signalCode !== null) return
      await once(child, 'exit')
    },
    kill: async () => {
      const gone = service.ended()
      child?.kill('SIGKILL')
      await gone
    },
    [Symbol.asyncDispose]: async () => {
      await service.kill()
      if (ownDataDir) rmSync(ownDataDir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
    },
  }
  await service.start()
  return service
}

export type Customer = {
  session: string
  apiKey: string
  manage: (method: string, path: string, body?: unknown) => ReturnType<typeof callUrl>
}

/** Registers a new organization on a running service. */
export async function newCustomer(url: string, name = 'Acme'): Promise<Customer> {
  const email = `${name.toLowerCase().replace(/\W/g, '')}@example.com`
  const registered = await callUrl('POST', `${url}/api/v1/auth/register`, {
    body: { organization_name: name, email, password: 'correct horse battery' },
  })
  const session: string = registered.body.data.token
  const manage = (method: string, path: string, body?: unknown) =>
    callUrl(method, `${url}/api/v1${path}`, { headers: { authorization: `Bearer ${session}` }, body })
  const key = await manage('POST', '/organization/api-keys', { name: 'k' })
  return { session, apiKey: key.body.data.api_key, manage }
}
