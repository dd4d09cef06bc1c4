import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SetupFault } from '../values/errors.ts'
import { detectDistribution, distribute, findDistributedTables, runSequentially } from './cluster/distribute.ts'
import { runConcurrently, splitStatements } from './concurrent-migration.ts'
import type { Db, Tx } from './db.ts'
import { markKnownByAll } from './formats.ts'
import { withMigrationLock } from './migration-lock.ts'
import { migrationsFolder, newestMigration } from './newest-migration.ts'
import { onlyValue } from './rows.ts'
import { isReadOnly } from './transaction.ts'

export type Migration = { number: number; name: string; text: string }

export function readMigrations(folder = migrationsFolder): Migration[] {
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
 * Runs pending migrations, each in its own transaction, and returns their names. A migration marked `no transaction`
 * runs statement by statement instead and can be repeated. A lock serializes processes that start at the same time. Also
 * detects whether the tables are distributed, and distributes those that a migration has added. Throws `SetupFault` if
 * the schema is newer than this code, and an `Error` if two migrations have the same number.
 */
export async function migrate(db: Db, migrations = readMigrations()): Promise<string[]> {
  checkNumbers(migrations)
  const direct = db.directDb ?? db
  const done: string[] = []
  for (const migration of migrations) {
    if (await withMigrationLock(direct, (tx) => runOnce(direct, tx, migration, migrations))) done.push(migration.name)
  }
  // No other process has used the database that this one has created.
  if (done.length === migrations.length && migrations.at(-1)?.number === newestMigration)
    await markKnownByAll(direct.statement)
  await detectDistribution(db)
  // Also if this process ran no migration: the one that did may still distribute the tables, or was killed before.
  if (db.isDistributed) await distribute(direct)
  return done
}

/** Returns false if the migration was run before. */
async function runOnce(db: Db, tx: Tx, migration: Migration, migrations: Migration[]): Promise<boolean> {
  const applied = await readApplied(tx)
  checkNotNewer(applied, migrations)
  if (applied.some(({ number }) => number === migration.number)) return false
  if (isConcurrent(migration)) await runConcurrently(db, migration.text)
  else await runMigration(tx, migration.text)
  await tx`insert into schema_migrations (number, name) values (${migration.number}, ${migration.name})`
  return true
}

/** A distributed database accepts only single statements that change tables. */
async function runMigration(tx: Tx, text: string): Promise<void> {
  if ((await findDistributedTables(tx)).size > 0) await runSequentially(tx, splitStatements(text))
  else await tx.script(text)
}

async function readApplied(tx: Tx): Promise<{ number: number }[]> {
  await tx`create table if not exists schema_migrations (
    number integer primary key, name text not null, migrated_at timestamptz not null default now())`
  return tx<{ number: number }>`select number from schema_migrations`
}

/** The first line of a migration that cannot run in a transaction, for example `create index concurrently`. */
export const isConcurrent = ({ text }: Migration): boolean => text.startsWith('-- no transaction\n')

function checkNotNewer(applied: { number: number }[], migrations: Migration[]): void {
  const newest = Math.max(0, ...migrations.map(({ number }) => number))
  const ahead = applied.find(({ number }) => number > newest)
  if (ahead)
    throw new SetupFault(
      `The database has migration ${ahead.number}, but this version of Waxwing supports only up to ${newest}. Run a newer version.`,
    )
}

/** Throws if two migrations have the same number: only one of them would run. */
function checkNumbers(migrations: Migration[]): void {
  const names = new Map<number, string>()
  for (const { number, name } of migrations) {
    if (Number.isNaN(number)) throw new Error(`The migration ${name} must start with a number.`)
    const other = names.get(number)
    if (other) throw new Error(`The migrations ${other} and ${name} have the same number. Renumber one of them.`)
    names.set(number, name)
  }
}

/** The files belong to this version of the code and do not change while it runs. */
let knownNumbers: number[] | undefined

/** Returns true if no migration is pending. */
export async function isMigrated(db: Db): Promise<boolean> {
  knownNumbers ??= readMigrations().map(({ number }) => number)
  const [row] = await db<{ count: number }>`
    select count(*) from schema_migrations where number = any (${knownNumbers}::integer[])`
  return row!.count === knownNumbers.length
}

/** Returns false for a database that Waxwing was never started on. */
export const hasTables = (db: Db) =>
  onlyValue(db<{ found: boolean }>`
    select to_regclass('schema_migrations') is not null and to_regclass('organizations') is not null as found`)

/** Returns false for a read-only database. Its connection is closed, so that the next check uses a new one. */
export async function isWritable(db: Db): Promise<boolean> {
  try {
    // Locks no row, but is refused in a read-only transaction, and on a standby.
    await db`select from schema_migrations limit 0 for update`
    return true
  } catch (error) {
    if (isReadOnly(error)) return false
    throw error
  }
}
