import type { Readable } from 'node:stream'
import type pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import type { Db } from '../db/db.ts'
import type { AppSecrets } from '../secrets/secrets.ts'
import { SetupFault } from '../values/errors.ts'
import { type FoundTable, selectMigrations, selectPartitions, selectSequences, selectTables } from './catalog.sql.ts'
import { type WrittenFile, writeContainer } from './container.ts'
import type { Progress } from './progress.ts'
import { encodeSection, type Manifest } from './sections.ts'
import { listSpoolFiles, readSpoolFile } from './spool-files.ts'

export type BackupOptions = {
  db: Db
  secrets: Pick<AppSecrets, 'current' | 'previous'>
  /** Its spool is included, unless this is undefined. */
  dataDir: string | undefined
  waxwing: string
  passphrase?: string | undefined
  progress: Progress
}

export type BackupResult = WrittenFile & { tables: number; rows: number }

/**
 * Writes all tables, the secret and the spool to a file. All tables are read in one snapshot, so the backup contains
 * everything that was committed before it began and nothing in part, while the service keeps running. Throws
 * `SetupFault` if the file cannot be written.
 */
export async function backUp(path: string, options: BackupOptions): Promise<BackupResult> {
  await using session = await options.db.openSession()
  const counts: Record<string, number> = {}
  const written = await writeContainer(path, sectionsOf(session.client, options, counts), options)
  const rows = Object.values(counts).reduce((sum, count) => sum + count, 0)
  return { ...written, tables: Object.keys(counts).length, rows }
}

async function* sectionsOf(
  client: pg.Client,
  { secrets, dataDir, waxwing, progress }: BackupOptions,
  counts: Record<string, number>,
): AsyncGenerator<Buffer> {
  yield* encodeSection({ section: 'secret' }, only(secretText(secrets)))
  // Before the snapshot: a hit that is recorded in between is then in both, which is harmless, and not in neither.
  for (const file of dataDir === undefined ? [] : await listSpoolFiles(dataDir))
    yield* encodeSection({ section: 'spool' }, readSpoolFile(file))
  await client.query('begin isolation level repeatable read read only')
  const tables = await lockTables(client)
  yield* encodeSection(await manifestOf(client, tables, waxwing))
  progress.begin(tables.reduce((sum, { rowsEstimated }) => sum + rowsEstimated, 0))
  for (const table of tables) {
    const rows = client.query(copyTo(copyText(client, table)))
    counts[table.name] = 0
    const onRows = (count: number) => {
      counts[table.name]! += count
      progress.advance(table.name, count)
    }
    yield* encodeSection({ section: 'table', name: table.name }, countingRows(rows, onRows))
  }
  yield* encodeSection({ section: 'end', rows: counts })
  await client.query('commit')
}

/** Keeps tables from being dropped or changed until the end. Reading and writing rows is not affected. */
async function lockTables(client: pg.Client): Promise<FoundTable[]> {
  const tables = await selectTables(client)
  const names = tables.map(({ name }) => client.escapeIdentifier(name))
  if (names.length > 0) await client.query(`lock table only ${names.join(', only ')} in access share mode`)
  return tables
}

async function manifestOf(client: pg.Client, tables: FoundTable[], waxwing: string): Promise<Manifest> {
  const migrations = await selectMigrations(client)
  if (!migrations)
    throw new SetupFault('This database has no Waxwing tables. Start Waxwing once, or check DATABASE_URL.')
  const server = await client.query<{ version: string }>("select current_setting('server_version') as version")
  return {
    section: 'manifest',
    createdAt: new Date().toISOString(),
    waxwing,
    postgres: server.rows[0]!.version,
    migrations,
    tables: tables.map(({ name, columns }) => ({ name, columns })),
    partitions: await selectPartitions(client),
    sequences: await selectSequences(client),
  }
}

function copyText(client: pg.Client, { name, columns }: FoundTable): string {
  const quoted = columns.map((column) => client.escapeIdentifier(column))
  return `copy ${client.escapeIdentifier(name)} (${quoted.join(', ')}) to stdout`
}

async function* countingRows(rows: Readable, onRows: (count: number) => void): AsyncGenerator<Buffer> {
  for await (const piece of rows as AsyncIterable<Buffer>) {
    onRows(countLineFeeds(piece))
    yield piece
  }
}

/** In the text format, a row ends with a line feed and contains none. */
export function countLineFeeds(bytes: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) count++
  return count
}

const secretText = ({ current, previous }: BackupOptions['secrets']) =>
  JSON.stringify({ current, previous: previous ?? null })

async function* only(content: string): AsyncGenerator<Buffer> {
  yield Buffer.from(content)
}
