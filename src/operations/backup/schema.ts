import type pg from 'pg'
import type { Migration } from '../../platform/db/migrate.ts'
import { applyOffline, createMigrationsTable } from '../../platform/db/offline-migration.ts'
import { SetupFault } from '../../platform/values/errors.ts'
import { damaged } from './archive.ts'
import {
  countServices,
  dropAll,
  selectContents,
  selectPartitioned,
  selectSequences,
  selectTables,
} from './catalog.sql.ts'
import type { Manifest, PartitionEntry, SequenceEntry, TableEntry } from './manifest.ts'

const lockTimeoutMs = 10_000

/** Throws `SetupFault` if a backup must not be restored into this database. */
export async function prepareSchema(client: pg.Client, { replace }: { replace: boolean }): Promise<void> {
  if ((await countServices(client)) > 0)
    throw new SetupFault('Another Waxwing process uses this database. Stop all processes, then restore.')
  const { tables, isWaxwing, organizations } = await selectContents(client)
  if (tables > 0 && !isWaxwing)
    throw new SetupFault(
      'The database contains tables of another program. Restore into an empty database, or into an empty schema in the search_path.',
    )
  if (organizations > 0 && !replace)
    throw new SetupFault(
      'The database is not empty. Use --replace to delete what it contains, or restore into an empty database.',
    )
}

/**
 * Drops everything and creates the schema as it was when the backup was made, with empty tables. Throws `SetupFault` if
 * the backup is newer than this code.
 */
export async function createSchema(
  client: pg.Client,
  { migrations }: Pick<Manifest, 'migrations'>,
  known: Migration[],
): Promise<void> {
  const newer = migrations.find(({ number }) => !known.some((migration) => migration.number === number))
  if (newer)
    throw new SetupFault(
      `The backup has migration ${newer.name}, which this version of Waxwing does not know. Restore it with a newer version.`,
    )
  await client.query(`set local lock_timeout = ${lockTimeoutMs}`)
  await dropAll(client)
  await createMigrationsTable(client)
  const numbers = new Set(migrations.map(({ number }) => number))
  for (const migration of known.filter(({ number }) => numbers.has(number))) await applyOffline(client, migration)
  // Migrations may insert rows, which the backup contains as well.
  const names = (await selectTables(client)).map(({ name }) => client.escapeIdentifier(name))
  await client.query(`truncate ${names.join(', ')}`)
}

/** Runs the migrations that are newer than the backup, and returns their names. */
export async function finishSchema(
  client: pg.Client,
  { migrations }: Pick<Manifest, 'migrations'>,
  known: Migration[],
): Promise<string[]> {
  await client.query('set constraints all immediate')
  const numbers = new Set(migrations.map(({ number }) => number))
  const pending = known.filter(({ number }) => !numbers.has(number))
  for (const migration of pending) await applyOffline(client, migration)
  return pending.map(({ name }) => name)
}

/**
 * Migrations create the default partition; the service creates the others. Throws `SetupFault` if the schema does not have
 * the partitioned table.
 */
export async function createPartitions(client: pg.Client, partitions: PartitionEntry[]): Promise<void> {
  const parents = new Set(await selectPartitioned(client))
  for (const { name, parent, bound } of partitions) {
    if (bound === null) continue
    if (!parents.has(parent)) throw damaged(`there is no table ${parent} with partitions`)
    const [table, parentTable] = [client.escapeIdentifier(name), client.escapeIdentifier(parent)]
    const [from, to] = [client.escapeLiteral(bound.from), client.escapeLiteral(bound.to)]
    await client.query(`create table ${table} partition of ${parentTable} for values from (${from}) to (${to})`)
  }
}

/** Throws `SetupFault` if the schema does not have a table or a column. Their names become part of statements. */
export async function checkTables(client: pg.Client, tables: TableEntry[]): Promise<void> {
  const known = new Map((await selectTables(client)).map(({ name, columns }) => [name, new Set(columns)]))
  for (const { name, columns } of tables) {
    const missing = columns.find((column) => !known.get(name)?.has(column))
    if (!known.has(name)) throw damaged(`there is no table ${name}`)
    if (missing !== undefined) throw damaged(`there is no column ${missing} in ${name}`)
  }
}

/** Throws `SetupFault` if the schema does not have a sequence. */
export async function setSequences(client: pg.Client, sequences: SequenceEntry[]): Promise<void> {
  const known = new Set((await selectSequences(client)).map(({ name }) => name))
  for (const { name, value, isCalled } of sequences) {
    if (!known.has(name)) throw damaged(`there is no sequence ${name}`)
    await client.query('select setval($1::regclass, $2, $3)', [client.escapeIdentifier(name), value, isCalled])
  }
}
