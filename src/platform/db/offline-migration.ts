import type pg from 'pg'
import { withoutConcurrently } from './concurrent-migration.ts'
import { isConcurrent, type Migration } from './migrate.ts'

/** For a schema that was just created in the transaction of `client`. */
export async function createMigrationsTable(client: pg.ClientBase): Promise<void> {
  await client.query(`create table schema_migrations (
    number integer primary key, name text not null, migrated_at timestamptz not null default now())`)
}

/** Runs a migration in the transaction of `client`. No one else uses the tables, so indexes are built at once. */
export async function applyOffline(client: pg.ClientBase, migration: Migration): Promise<void> {
  const { number, name, text } = migration
  await client.query(isConcurrent(migration) ? withoutConcurrently(text) : text)
  await client.query('insert into schema_migrations (number, name) values ($1, $2)', [number, name])
}
