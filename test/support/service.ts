import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { callUrl } from './test-app.ts'
import { until } from './until.ts'

export type Service = AsyncDisposable & {
  url: string
  /** Ends the process the hard way and waits until it is gone. */
  kill(): Promise<void>
  start(): Promise<void>
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** A folder that the database's own user may enter, also when the tests run as root. */
export function makeDataDir(): string {
  const folder = mkdtempSync(join(tmpdir(), 'waxwing-service-'))
  chmodSync(folder, 0o711)
  return folder
}

/** The built service as a process of its own, as people run it. `npm test` builds before it tests. */
export async function startService(
  command: 'start' | 'serve' | 'work',
  environment: Record<string, string>,
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
    WEBHOOK_ALLOW_PRIVATE: 'true',
    APP_SECRET: 'a secret that several processes of a test share',
    ...(ownDataDir ? { DATA_DIR: ownDataDir } : {}),
    ...environment,
  }
  let child: ChildProcess | undefined
  const service: Service = {
    url: `http://127.0.0.1:${port}`,
    start: async () => {
      child = spawn(process.execPath, ['dist/src/cli.js', command], { env, stdio: ['ignore', 'pipe', 'inherit'] })
      const started = child
      let output = ''
      child.stdout!.on('data', (chunk) => {
        output += chunk
      })
      await until(`${command} to be ready`, () => {
        if (started.exitCode !== null) throw new Error(`The service ended with ${started.exitCode}.`)
        return output.includes('is ready')
      })
    },
    kill: async () => {
      if (!child || child.exitCode !== null || child.signalCode !== null) return
      const gone = new Promise((resolve) => child!.once('exit', resolve))
      child.kill('SIGKILL')
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

/** A new organization on a running service. */
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
