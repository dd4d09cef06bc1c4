import { spawnSync } from 'node:child_process'
import { accessSync, chmodSync, constants, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbedded } from '@waxwing/embedded-postgres'
import { pino } from 'pino'
import type { TestProject } from 'vitest/node'
import { bundleWhenStale } from '../../scripts/bundle.ts'
import { buildDocumentationWhenStale } from '../../scripts/documentation-build.ts'
import type { Account } from '../../src/accounts/people/accounts.sql.ts'
import { register } from '../../src/accounts/people/accounts.ts'
import { createApiKey } from '../../src/accounts/people/api-keys.ts'
import { ensurePartitions } from '../../src/events/recording/partitions.ts'
import { detectDistribution } from '../../src/platform/db/cluster/distribute.ts'
import { type Db, openDb } from '../../src/platform/db/db.ts'
import { migrate } from '../../src/platform/db/migrate.ts'
import { closeAdmins, databasesOf, type TestServer } from './databases.ts'
import { seedOfRun } from './seeded.ts'

/** A server on which each test creates its own database. */

declare module 'vitest' {
  export interface ProvidedContext {
    /** The address that services connect to. */
    postgres: TestServer
    /** The same server without a connection pooler. Databases are created here. */
    directPostgres: TestServer
    /** The owner in `registeredTemplateDatabase`. */
    owner: TestOwner
  }
}

/** The owner of the organization of a test, and an API key of that organization. */
export type TestOwner = { account: Account; apiKey: string }

export const templateDatabase = 'waxwing_template'
/** With the partitions that the service creates at its first start. */
export const startedTemplateDatabase = 'waxwing_started_template'
/** Also with an organization: registering it for each test took 70 ms of CPU time, most of it for the password. */
export const registeredTemplateDatabase = 'waxwing_registered_template'

export const registration = { organizationName: 'Acme', email: 'owner@acme.example', password: 'correct horse battery' }

/**
 * Provides one real PostgreSQL for the whole run, with a migrated database that each test clones within milliseconds:
 * the server in TEST_DATABASE_URL, or an embedded one. TEST_DATABASE_DIRECT_URL is the address of the server without
 * the connection pooler, if TEST_DATABASE_URL is that of a pooler.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  shared.testRun ??= { prepared: prepare(), projects: 0 }
  const run = shared.testRun
  run.projects++
  const { postgres, direct, owner, stop } = await run.prepared
  project.provide('owner', owner)
  project.provide('postgres', postgres)
  project.provide('directPostgres', direct)
  return async () => {
    if (--run.projects === 0) await stop()
  }
}

/** Each project has its own copy of this module. Preparing a run takes 8 s of CPU time. */
const shared = globalThis as { testRun?: { prepared: Promise<Prepared>; projects: number } }

type Prepared = Started & { owner: TestOwner }

async function prepare(): Promise<Prepared> {
  chooseSeed()
  await buildService()
  const given = process.env.TEST_DATABASE_URL
  const started = given ? givenServer(given) : await startServer()
  return { ...started, owner: await createTemplates(started.direct) }
}

type Started = { postgres: TestServer; direct: TestServer; stop: () => Promise<void> }

async function startServer(): Promise<Started> {
  const dataDir = makeDataDir()
  chmodSync(dataDir, 0o711) // as root the database runs as another user, who must get in, or it is kept elsewhere
  // Durability is tested by the tests that kill processes, with separate databases.
  const settings = {
    fsync: 'off',
    synchronous_commit: 'off',
    full_page_writes: 'off',
    max_connections: '300',
    max_wal_size: '512MB',
    min_wal_size: '128MB',
  }
  const { connection, stop } = await startEmbedded({ dataDir, log: pino({ level: 'error' }), settings })
  return {
    postgres: connection,
    direct: connection,
    stop: async () => {
      await stop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

const memoryFolder = '/dev/shm'
const memoryBytesMin = 2 ** 31

/**
 * In memory if there is room. A database of a test is a copy of about a thousand files, whose creation takes a tenth of
 * the CPU time there.
 */
function makeDataDir(): string {
  const folder = hasRoom(memoryFolder) ? memoryFolder : tmpdir()
  for (const name of readdirSync(folder)) {
    const [, pid] = /^waxwing-test-(\d+)-/.exec(name) ?? []
    // Left by a run that was killed.
    if (pid && !isRunning(Number(pid))) rmSync(join(folder, name), { recursive: true, force: true })
  }
  return mkdtempSync(join(folder, `waxwing-test-${process.pid}-`))
}

function hasRoom(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize >= memoryBytesMin
  } catch {
    return false
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function givenServer(url: string): Started {
  const postgres = serverOf(url)
  const directUrl = process.env.TEST_DATABASE_DIRECT_URL
  return { postgres, direct: directUrl ? serverOf(directUrl) : postgres, stop: async () => {} }
}

/** Reads `postgres://user:password@host:port/database`. A Unix socket is the percent-encoded path in place of the host. */
function serverOf(url: string): TestServer {
  const { hostname, port, username, password, pathname } = new URL(url)
  return {
    host: decodeURIComponent(hostname),
    port: Number(port || 5432),
    user: decodeURIComponent(username),
    ...(password && { password: decodeURIComponent(password) }),
    database: decodeURIComponent(pathname.slice(1)),
  }
}

async function createTemplates(server: TestServer): Promise<TestOwner> {
  const databases = await databasesOf()
  const prepare = async <Result>(name: string, template: string | undefined, step: (db: Db) => Promise<Result>) => {
    await databases.dropDatabase(server, name)
    await databases.createDatabase(server, name, template)
    return prepareTemplate({ ...server, database: name }, step)
  }
  await prepare(templateDatabase, undefined, async (db) => {
    await migrate(db)
    await databases.afterMigration(db, server)
  })
  await prepare(startedTemplateDatabase, templateDatabase, ensurePartitions)
  const owner = await prepare(registeredTemplateDatabase, startedTemplateDatabase, registerOwner)
  await closeAdmins()
  return owner
}

async function registerOwner(db: Db): Promise<TestOwner> {
  const account = await register(db, 'open', registration)
  const { key: apiKey } = await createApiKey(db, account, { name: 'test' })
  return { account, apiKey }
}

async function prepareTemplate<Result>(connection: TestServer, prepare: (db: Db) => Promise<Result>): Promise<Result> {
  const db = openDb({ connection })
  await detectDistribution(db)
  const result = await prepare(db)
  // Removes the dead rows of the catalogs, which every copy would contain.
  await db.statement.script('vacuum (full, freeze)')
  await db.close()
  // The first connection after a change stores the catalog entries that every connection reads. Copies contain them.
  const next = openDb({ connection })
  await next`select`
  await next.close()
  return result
}

/** All random choices of a run follow from one seed, which the workers inherit. */
function chooseSeed(): void {
  process.env.TEST_SEED = String(seedOfRun())
  console.info(`Seed of random choices: ${process.env.TEST_SEED}. Set TEST_SEED to another one, or to "random".`)
}

/** Task processes run the compiled code, in tests as well. Takes about a second if little has changed. */
async function buildService(): Promise<void> {
  // Type errors are printed but do not stop the tests, because the compiler still writes its output.
  spawnSync('npx', ['tsc', '-b', 'tsconfig.build.json'], { stdio: 'inherit' })
  await bundleWhenStale()
  await buildDocumentationWhenStale()
}
