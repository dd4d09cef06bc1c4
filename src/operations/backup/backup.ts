import type { Readable } from 'node:stream'
import type pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import type { Db } from '../../platform/db/db.ts'
import type { Bucket } from '../../platform/object-storage/bucket.ts'
import type { AppSecrets } from '../../platform/secrets/secrets.ts'
import { SetupFault } from '../../platform/values/errors.ts'
import { type BucketSource, readBucketChunks, type StoredChunk } from './bucket-chunks.ts'
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
  /** Where images are stored, if not in the database. */
  bucket?: Bucket | undefined
  progress: Progress
}

/** `missing`: how many files were not found in the bucket. */
export type BackupResult = WrittenFile & { tables: number; rows: number; missing: number }

/**
 * Writes all tables, the secret and the spool to a file. All tables are read in one snapshot, so the backup contains
 * everything that was committed before it began and nothing in part, while the service keeps running. Throws
 * `SetupFault` if the file cannot be written.
 */
export async function backUp(path: string, options: BackupOptions): Promise<BackupResult> {
  await using session = await options.db.openSession()
  const counts: Record<string, number> = {}
  let missing = 0
  const source = { bucket: options.bucket, onMissing: () => missing++ }
  const written = await writeContainer(path, sectionsOf(session.client, options, source, counts), options)
  const rows = Object.values(counts).reduce((sum, count) => sum + count, 0)
  return { ...written, tables: Object.keys(counts).length, rows, missing }
}

async function* sectionsOf(
  client: pg.Client,
  { secrets, dataDir, waxwing, progress }: BackupOptions,
  source: BucketSource,
  counts: Record<string, number>,
): AsyncGenerator<Buffer> {
  yield* encodeSection({ section: 'secret' }, only(secretText(secrets)))
  // Before the snapshot: a hit that is recorded in between is then in both, which is harmless, and not in neither.
  for (const file of dataDir === undefined ? [] : await listSpoolFiles(dataDir))
    yield* encodeSection({ section: 'spool' }, readSpoolFile(file))
  await client.query('begin isolation level repeatable read read only')
  const tables = await lockTables(client)
  yield* encodeSection(await manifestOf(client, tables, waxwing))
  // A backup before an upgrade has the tables of the older version.
  const mayUseBucket = tables.some(({ name, columns }) => name === 'stored_files' && columns.includes('in_bucket'))
  progress.begin(tables.reduce((sum, { rowsEstimated }) => sum + rowsEstimated, 0))
  for (const table of tables) {
    counts[table.name] = 0
    const onRows = (count: number) => {
      counts[table.name]! += count
      progress.advance(table.name, count)
    }
    yield* encodeSection(
      { section: 'table', name: table.name },
      countingRows(rowsOf(client, table, mayUseBucket ? source : undefined), onRows),
    )
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

/** In the text format of COPY. Files in the bucket become files in the database. */
async function* rowsOf(client: pg.Client, table: FoundTable, source: BucketSource | undefined): AsyncGenerator<Buffer> {
  yield* client.query(copyTo(copyText(client, table))) as Readable as AsyncIterable<Buffer>
  if (table.name !== 'stored_file_chunks' || !source) return
  for await (const chunk of readBucketChunks(client, source)) yield copyRow(table.columns, chunk)
}

function copyText(client: pg.Client, { name, columns }: FoundTable): string {
  const quoted = columns.map((column) => client.escapeIdentifier(column))
  if (name !== 'stored_files') return `copy ${client.escapeIdentifier(name)} (${quoted.join(', ')}) to stdout`
  const values = columns.map((column, index) => (column === 'in_bucket' ? 'false' : quoted[index]))
  return `copy (select ${values.join(', ')} from stored_files) to stdout`
}

/** In the text format, a value of type bytea begins with an escaped backslash. */
const copyRow = (columns: string[], chunk: StoredChunk): Buffer =>
  Buffer.from(
    `${columns.map((column) => String(chunk[column as keyof StoredChunk]).replace('\\', '\\\\')).join('\t')}\n`,
  )

async function* countingRows(rows: AsyncIterable<Buffer>, onRows: (count: number) => void): AsyncGenerator<Buffer> {
  for await (const piece of rows) {
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
