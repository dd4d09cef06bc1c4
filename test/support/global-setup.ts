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

/** One real PostgreSQL for the whole run, and in it a migrated database that each test clones in some milliseconds. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  buildService()
  const dataDir = mkdtempSync(join(tmpdir(), 'waxwing-test-'))
  chmodSync(dataDir, 0o711) // as root the database runs as another user, who must get in, or it is kept elsewhere
  // Durability is tested by the tests that kill processes, on databases of their own.
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

/** Task processes run the build, also in tests. Takes about a second when little has changed. */
function buildService(): void {
  // Type errors are printed but do not stop the tests: the compiler writes its output all the same.
  spawnSync('npx', ['tsc', '-b', 'tsconfig.build.json'], { stdio: 'inherit' })
}
