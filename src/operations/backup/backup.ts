import { basename } from 'node:path'
import type { Readable } from 'node:stream'
import type pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import type { Db } from '../../platform/db/db.ts'
import type { Bucket } from '../../platform/object-storage/bucket.ts'
import type { AppSecrets } from '../../platform/secrets/secrets.ts'
import { SetupFault } from '../../platform/values/errors.ts'
import { type ArchivedFile, filesOfLines, type WrittenFile, writeArchive } from './archive.ts'
import { type BucketSource, readBucketChunks, type StoredChunk } from './bucket-chunks.ts'
import { type FoundTable, selectMigrations, selectPartitions, selectSequences, selectTables } from './catalog.sql.ts'
import type { End, Manifest } from './manifest.ts'
import type { Progress } from './progress.ts'
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
 * Writes all tables, the secret and the spool to an archive, which docs/guides/backup.md describes. All tables are read in one snapshot, so the backup contains
 * everything that was committed before it began and nothing in part, while the service keeps running. Throws
 * `SetupFault` if the file cannot be written.
 */
export async function backUp(path: string, options: BackupOptions): Promise<BackupResult> {
  await using session = await options.db.openSession()
  const counts: Record<string, number> = {}
  let missing = 0
  const source = { bucket: options.bucket, onMissing: () => missing++ }
  const written = await writeArchive(path, filesOf(session.client, options, source, counts), options.passphrase)
  const rows = Object.values(counts).reduce((sum, count) => sum + count, 0)
  return { ...written, tables: Object.keys(counts).length, rows, missing }
}

async function* filesOf(
  client: pg.Client,
  { secrets, dataDir, waxwing, progress }: BackupOptions,
  source: BucketSource,
  counts: Record<string, number>,
): AsyncGenerator<ArchivedFile> {
  yield jsonFile('secret.json', secretOf(secrets))
  // Before the snapshot: a hit that is recorded in between is then in both, which is harmless, and not in neither.
  for (const file of dataDir === undefined ? [] : await listSpoolFiles(dataDir))
    yield* filesOfLines(`spool/${basename(file)}`, readSpoolFile(file))
  await client.query('begin isolation level repeatable read read only')
  const tables = await lockTables(client)
  yield jsonFile('manifest.json', await manifestOf(client, tables, waxwing))
  // A backup before an upgrade has the tables of the older version.
  const mayUseBucket = tables.some(({ name, columns }) => name === 'stored_files' && columns.includes('in_bucket'))
  progress.begin(tables.reduce((sum, { rowsEstimated }) => sum + rowsEstimated, 0))
  for (const table of tables) {
    counts[table.name] = 0
    const onRows = (count: number) => {
      counts[table.name]! += count
      progress.advance(table.name, count)
    }
    const rows = rowsOf(client, table, mayUseBucket ? source : undefined)
    yield* filesOfLines(`tables/${table.name}`, countingRows(rows, onRows))
  }
  yield jsonFile('end.json', { rows: counts } satisfies End)
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
    format: 'waxwing backup 1',
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

const secretOf = ({ current, previous }: BackupOptions['secrets']) => ({ current, previous: previous ?? null })

const jsonFile = (name: string, value: object): ArchivedFile => ({
  name,
  content: Buffer.from(`${JSON.stringify(value, null, 1)}\n`),
})
