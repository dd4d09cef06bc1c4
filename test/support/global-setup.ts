import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbedded } from '@waxwing/embedded-postgres'
import { pino } from 'pino'
import type { TestProject } from 'vitest/node'
import { openDb } from '../../src/db/db.ts'
import { migrate } from '../../src/db/migrate.ts'

/** A server on which each test creates its own database. */
export type TestServer = { host: string; port: number; user: string; password?: string; database: string }

declare module 'vitest' {
  export interface ProvidedContext {
    /** The address that services connect to. */
    postgres: TestServer
    /** The same server without a connection pooler. Databases are created here. */
    directPostgres: TestServer
  }
}

export const templateDatabase = 'waxwing_template'

/**
 * Provides one real PostgreSQL for the whole run, with a migrated database that each test clones within milliseconds:
 * the server in TEST_DATABASE_URL, or an embedded one. TEST_DATABASE_DIRECT_URL is the address of the server without
 * the connection pooler, if TEST_DATABASE_URL is that of a pooler.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  chooseSeed()
  buildService()
  const given = process.env.TEST_DATABASE_URL
  const { postgres, direct, stop } = given ? givenServer(given) : await startServer()
  // A server that cannot copy databases creates them with the hook, which replaces the template.
  if (!process.env.TEST_DATABASE_HOOK) await createTemplate(direct)
  project.provide('postgres', postgres)
  project.provide('directPostgres', direct)
  return stop
}

type Started = { postgres: TestServer; direct: TestServer; stop: () => Promise<void> }

async function startServer(): Promise<Started> {
  const dataDir = mkdtempSync(join(tmpdir(), 'waxwing-test-'))
  chmodSync(dataDir, 0o711) // as root the database runs as another user, who must get in, or it is kept elsewhere
  // Durability is tested by the tests that kill processes, with separate databases.
  const settings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '300' }
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

async function createTemplate(server: TestServer): Promise<void> {
  const admin = openDb({ connection: server, connectionsMax: 1 })
  await admin.statement.script(`drop database if exists ${templateDatabase} with (force)`)
  await admin.statement.script(`create database ${templateDatabase}`)
  await admin.close()
  const template = openDb({ connection: { ...server, database: templateDatabase } })
  await migrate(template)
  await template.close()
}

/** All random choices of a run follow from one seed, which the workers inherit. */
function chooseSeed(): void {
  process.env.TEST_SEED ??= String(Math.floor(Math.random() * 0x7fffffff))
  console.info(`Seed of random choices: ${process.env.TEST_SEED}. Set TEST_SEED to it to repeat them.`)
}

/** Task processes run the compiled code, in tests as well. Takes about a second if little has changed. */
function buildService(): void {
  // Type errors are printed but do not stop the tests, because the compiler still writes its output.
  spawnSync('npx', ['tsc', '-b', 'tsconfig.build.json'], { stdio: 'inherit' })
}
