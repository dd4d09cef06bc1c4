import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../config/package-root.ts'
import { SetupFault } from '../values/errors.ts'
import type { Db } from './db.ts'

export type Migration = { number: number; name: string; text: string }

const advisoryLock = 7_249_316
/** A large table takes its time. */
const unlimited = { unlimited: true }

export function readMigrations(folder = join(packageRoot, 'src', 'db', 'migrations')): Migration[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => ({
      number: Number.parseInt(file, 10),
      name: file.replace(/\.sql$/, ''),
      text: readFileSync(join(folder, file), 'utf8'),
    }))
}

/**
 * Brings the schema up to date, forward only, one transaction a migration. Processes that start at once wait for each
 * other at an advisory lock. A database that is newer than this code is refused: the code would misread it.
 */
export async function migrate(db: Db, migrations = readMigrations()): Promise<string[]> {
  const done: string[] = []
  for (const migration of migrations) {
    await db.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(${advisoryLock})`
      await tx`create table if not exists schema_migrations (
        number integer primary key, name text not null, migrated_at timestamptz not null default now())`
      const applied = await tx<{ number: number }>`select number from schema_migrations`
      refuseNewer(applied, migrations)
      if (applied.some(({ number }) => number === migration.number)) return
      await tx.script(migration.text)
      await tx`insert into schema_migrations (number, name) values (${migration.number}, ${migration.name})`
      done.push(migration.name)
    }, unlimited)
  }
  return done
}

function refuseNewer(applied: { number: number }[], migrations: Migration[]): void {
  const newest = Math.max(0, ...migrations.map(({ number }) => number))
  const ahead = applied.find(({ number }) => number > newest)
  if (ahead)
    throw new SetupFault(
      `The database has migration ${ahead.number}, but this version of Waxwing knows only up to ${newest}. Run a newer version.`,
    )
}

/** Whether every migration has run. */
export async function isMigrated(db: Db, migrations = readMigrations()): Promise<boolean> {
  const [row] = await db<{ count: number }>`select count(*) from schema_migrations`
  return (row?.count ?? 0) >= migrations.length
}

/** False for a standby, or a database that was made read-only for a while. */
export async function isWritable(db: Db): Promise<boolean> {
  const [row] = await db<{ readOnly: string }>`select current_setting('transaction_read_only') as read_only`
  return row!.readOnly === 'off'
}
