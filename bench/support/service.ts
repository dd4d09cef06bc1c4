import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { login, openHome } from '@waxwing/embedded-postgres'
import { type Db, openDb } from '../../src/platform/db/db.ts'
import { type OrganizationId, parseId } from '../../src/platform/values/ids.ts'
import { atEnd } from './cleanup.ts'
import { options } from './options.ts'
import { cpuMicrosOfTree, residentBytes } from './process-tree.ts'
import { currentSide } from './sides.ts'
import { until } from './until.ts'

export const appSecret = 'a secret that only the benchmarks know and use'
export const ourProgram = fileURLToPath(new URL('../../bin/cli.js', import.meta.url))
/** The Node flags of `npm start`, passed on by `npm run bench`. */
const nodeFlags = process.env.npm_package_config_node_flags?.split(' ') ?? []
const stopWithinMs = 20_000

// biome-ignore lint/suspicious/noExplicitAny: the setup reads responses of any shape
type Json = any

/** An organization with its session and API key. */
export type Tenant = {
  id: OrganizationId
  apiKey: string
  manage(method: string, path: string, body?: unknown): Promise<Json>
}

export type Service = {
  url: string
  port: number
  db: Db
  register(name: string): Promise<Tenant>
  /** As many organizations as the command line says: one, unless `--organizations` is given. */
  registerAll(): Promise<Tenant[]>
  /** Includes the Node process and PostgreSQL. */
  cpuMicros(): number | null
  /** The Node process only. */
  residentBytes(): number | null
  stop(): Promise<void>
}

/** Starts the service as users do: a process with an embedded database, in its own directory. */
export async function startService(
  command: 'start' | 'serve',
  environment: Record<string, string> = {},
): Promise<Service> {
  const folder = mkdtempSync(join(tmpdir(), 'waxwing-bench-'))
  // As root, PostgreSQL runs as another user, which must be able to access the directory.
  chmodSync(folder, 0o711)
  const dataDir = join(folder, 'data')
  const port = await freePort()
  const { profileFolder } = options
  const profile = profileFolder ? ['--cpu-prof', `--cpu-prof-dir=${profileFolder}`] : []
  const child = spawn(process.execPath, [...nodeFlags, ...profile, currentSide()?.program ?? ourProgram, command], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      PATH: process.env.PATH,
      DATA_DIR: dataDir,
      PORT: String(port),
      APP_SECRET: appSecret,
      SIGNUP: 'open',
      LOG_LEVEL: 'warn',
      RATE_LIMIT_PER_SECOND: '0',
      SIGNUPS_PER_HOUR: '0',
      EGRESS_ALLOW_PRIVATE: 'true',
      // Registrations are limited by address: each names another one.
      ...(options.organizations > 1 ? { TRUST_PROXY: 'true' } : {}),
      ...environment,
    },
  })
  const url = `http://127.0.0.1:${port}`
  const opened: { db?: Db } = {}
  let registered = 0
  const registerNext = (name: string) => register(url, name, ++registered)
  let stopping: Promise<void> | undefined
  const stop = () => {
    stopping ??= end(child, opened.db, folder)
    return stopping
  }
  atEnd(stop)
  await until('the service', async () => {
    if (child.exitCode !== null) throw new Error('The service exited during startup.')
    return (await fetch(`${url}/ready`).catch(() => undefined))?.status === 200
  })
  const { socketDirectory } = await openHome(dataDir)
  const db = openDb({ connection: { host: socketDirectory, ...login }, connectionsMax: 3, applicationName: 'bench' })
  opened.db = db
  return {
    url,
    port,
    db,
    register: registerNext,
    registerAll: async () => {
      const tenants: Tenant[] = []
      for (let number = 0; number < options.organizations; number++) tenants.push(await registerNext(`acme-${number}`))
      return tenants
    },
    cpuMicros: () => cpuMicrosOfTree(child.pid!),
    residentBytes: () => residentBytes(child.pid!),
    stop,
  }
}

async function end(child: ChildProcess, db: Db | undefined, folder: string): Promise<void> {
  await db?.close()
  if (child.exitCode === null && child.signalCode === null) {
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    const force = setTimeout(() => child.kill('SIGKILL'), stopWithinMs)
    await ended
    clearTimeout(force)
  }
  rmSync(folder, { recursive: true, force: true })
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  return port
}

async function register(url: string, name: string, number: number): Promise<Tenant> {
  const registered = await call(
    `${url}/api/v1/auth/register`,
    'POST',
    { 'x-forwarded-for': `192.0.2.${number % 256}` },
    {
      organization_name: name,
      email: `${name}@example.com`,
      password: 'correct horse battery',
    },
  )
  const manage = (method: string, path: string, body?: unknown) =>
    call(`${url}/api/v1/organization${path}`, method, { authorization: `Bearer ${registered.token}` }, body)
  const key = await manage('POST', '/api-keys', { name: 'bench' })
  return { id: parseId('org', registered.organization_id)!, apiKey: key.api_key, manage }
}

async function call(url: string, method: string, headers: Record<string, string>, body: unknown): Promise<Json> {
  const response = await fetch(url, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    body: body === undefined ? null : JSON.stringify(body),
  })
  const answer = (await response.json()) as Json
  if (!response.ok) throw new Error(`${method} ${url}: ${JSON.stringify(answer)}`)
  return answer.data
}
