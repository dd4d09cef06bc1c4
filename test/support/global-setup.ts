import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbedded } from '@waxwing/embedded-postgres'
import { pino } from 'pino'
import type { TestProject } from 'vitest/node'
import { openDb } from '../../src/db/db.ts'
import { migrate } from '../../src/db/migrate.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    postgres: { host: string; port: number; user: string; database: string }
  }
}

export const templateDatabase = 'waxwing_template'

/** Starts one real PostgreSQL for the whole run, with a migrated database that each test clones within milliseconds. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  chooseSeed()
  buildService()
  const dataDir = mkdtempSync(join(tmpdir(), 'waxwing-test-'))
  chmodSync(dataDir, 0o711) // as root the database runs as another user, who must get in, or it is kept elsewhere
  // Durability is tested by the tests that kill processes, with separate databases.
  const settings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '300' }
  const postgres = await startEmbedded({ dataDir, log: pino({ level: 'error' }), settings })

  const admin = openDb({ connection: postgres.connection, connectionsMax: 1 })
  await admin.statement.script(`create database ${templateDatabase}`)
  await admin.close()
  const template = openDb({ connection: { ...postgres.connection, database: templateDatabase } })
  await migrate(template)
  await template.close()

  project.provide('postgres', postgres.connection)
  return async () => {
    await postgres.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
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
