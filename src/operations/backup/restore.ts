import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import type { Db, Session } from '../../platform/db/db.ts'
import { type Migration, readMigrations } from '../../platform/db/migrate.ts'
import { expireLeases } from '../../platform/queue/queue.ts'
import type { NewSecret } from '../../platform/secrets/restore-secret.ts'
import { SetupFault } from '../../platform/values/errors.ts'
import { pauseSending } from '../sending-status/sending-pause.ts'
import { type ArchivedFile, damaged, readArchive } from './archive.ts'
import { countLineFeeds } from './backup.ts'
import { isEnd, isManifest, type Manifest } from './manifest.ts'
import type { Progress } from './progress.ts'
import { checkSecret, isStoredSecret, prepareRestoredSecret, type SecretPlace } from './restored-secret.ts'
import { checkTables, createPartitions, createSchema, finishSchema, prepareSchema, setSequences } from './schema.ts'
import { RestoredSpool } from './spool-files.ts'

export type RestoreOptions = {
  db: Db
  passphrase?: string | undefined
  /** Delete what the database contains. Otherwise it must not contain an organization. */
  replace: boolean
  /** Emails and webhooks that were queued when the backup was made are not sent before the operator resumes sending. */
  pause: boolean
  /** Where the secret of the backup is checked or stored; undefined if it is not needed. */
  secretPlace: SecretPlace | undefined
  dataDir: string
  progress: Progress
  migrations?: Migration[]
}

export type RestoreResult = {
  createdAt: string
  waxwing: string
  tables: number
  rows: number
  /** Migrations that are newer than the backup. */
  migrated: string[]
}

/**
 * Replaces the content of the database with a backup, in one transaction: if anything fails before its commit, nothing has
 * changed. The secret and the spool are on disk by then, and are only renamed after it. A backup with an older schema is
 * migrated. Throws `SetupFault` if the file, the passphrase, the secret or the database is not suitable.
 */
export async function restore(path: string, options: RestoreOptions): Promise<RestoreResult> {
  const files = readArchive(path, options.passphrase)
  await using session = await options.db.openSession()
  await prepareSchema(session.client, options)
  const spool = new RestoredSpool(options.dataDir)
  let newSecret: NewSecret | undefined
  let result: RestoreResult
  try {
    const { secret, manifest } = await readPreamble(files, spool, options)
    if (options.secretPlace) newSecret = await prepareRestoredSecret(secret, options.secretPlace)
    await session.client.query('begin')
    result = await load(session, manifest, files, options)
    await session.client.query('commit')
  } catch (error) {
    await spool.discard()
    await newSecret?.discard()
    throw explain(error as FailedWrite)
  } finally {
    await files.return(undefined)
  }
  await publish(newSecret, spool)
  await session.client.query('analyze')
  return result
}

type FailedWrite = Error & { code?: string; severity?: string }

/** Values and rows that the tables do not accept. Only missing privileges are not the fault of the backup. */
const isRejected = ({ severity, code = '' }: FailedWrite) => severity !== undefined && /^(22|23|42(?!501))/.test(code)

function explain(error: FailedWrite): Error {
  if (isRejected(error)) return damaged(error.message)
  if (error instanceof SetupFault || !/^E[A-Z]+$/.test(error.code ?? '')) return error
  return new SetupFault(`DATA_DIR cannot be written (${error.message}). Nothing was changed.`)
}

/** The database is replaced already, so a failure must not look as if nothing had changed. */
async function publish(secret: NewSecret | undefined, spool: RestoredSpool): Promise<void> {
  try {
    await secret?.publish()
    await spool.publish()
  } catch (error) {
    throw new SetupFault(
      `The database is restored, but DATA_DIR cannot be written (${(error as Error).message}), so its secret or tracked hits are still those from before. Do not start Waxwing. Restore the backup again with --replace.`,
    )
  }
}

type Files = ReturnType<typeof readArchive>

/** Reads the files before the tables. */
async function readPreamble(files: Files, spool: RestoredSpool, { secretPlace }: RestoreOptions) {
  const secret = await readJson(await nextFile(files, 'secret.json'), isStoredSecret)
  if (secretPlace) checkSecret(secret, secretPlace)
  for (;;) {
    const file = await nextFile(files, 'spool/', 'manifest.json')
    if (file.name !== 'manifest.json') {
      await spool.add(file.content)
      continue
    }
    return { secret, manifest: await readJson(file, isManifest, 'waxwing backup 1') }
  }
}

async function load(
  { client, statement }: Session,
  manifest: Manifest,
  files: Files,
  { pause, progress, migrations = readMigrations() }: RestoreOptions,
): Promise<RestoreResult> {
  await createSchema(client, manifest, migrations)
  await createPartitions(client, manifest.partitions)
  await checkTables(client, manifest.tables)
  await client.query('set constraints all deferred')
  progress.begin(0)
  const counts = new Map<string, number>()
  for (;;) {
    const file = await nextFile(files, 'tables/', 'end.json')
    if (file.name === 'end.json') {
      checkCounts(counts, (await readJson(file, isEnd)).rows)
      break
    }
    const name = file.name.split('/')[1]!
    counts.set(name, (counts.get(name) ?? 0) + (await loadRows(client, manifest, name, file.content, progress)))
  }
  await setSequences(client, manifest.sequences)
  const migrated = await finishSchema(client, manifest, migrations)
  await expireLeases(statement)
  if (pause) await pauseSending(statement, 'restored')
  const rows = [...counts.values()].reduce((sum, count) => sum + count, 0)
  const { createdAt, waxwing, tables } = manifest
  return { createdAt, waxwing, tables: tables.length, rows, migrated }
}

async function loadRows(
  client: pg.Client,
  { tables }: Manifest,
  name: string,
  content: AsyncIterable<Buffer>,
  progress: Progress,
): Promise<number> {
  const table = tables.find((entry) => entry.name === name)
  if (!table) throw damaged(`there is no table ${name}`)
  const columns = table.columns.map((column) => client.escapeIdentifier(column))
  const target = client.query(copyFrom(`copy ${client.escapeIdentifier(name)} (${columns.join(', ')}) from stdin`))
  const counted = async function* () {
    for await (const piece of content) {
      progress.advance(name, countLineFeeds(piece))
      yield piece
    }
  }
  await pipeline(Readable.from(counted()), target)
  return target.rowCount
}

function checkCounts(found: ReadonlyMap<string, number>, expected: Record<string, number>): void {
  const names = Object.keys(expected)
  if (names.length !== found.size || names.some((name) => found.get(name) !== expected[name]))
    throw damaged('rows are missing')
}

type File = ArchivedFile<AsyncIterable<Buffer>>

/** Throws `SetupFault` if the next file has another name. Names of folders end with a slash. */
async function nextFile(files: Files, ...expected: string[]): Promise<File> {
  const { value } = await files.next()
  if (value && expected.some((name) => (name.endsWith('/') ? value.name.startsWith(name) : value.name === name)))
    return value
  throw damaged(`${expected.join(' or ')} is missing`)
}

/** A manifest has about a kilobyte for each table. */
const jsonBytesMax = 16 * 1024 * 1024

/** Throws `SetupFault` if the file is not JSON of this shape, or has another format. */
async function readJson<Value>(
  { name, content }: File,
  isValid: (value: unknown) => value is Value,
  format?: string,
): Promise<Value> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of content) {
    bytes += piece.length
    if (bytes > jsonBytesMax) throw damaged(`${name} is too large`)
    pieces.push(piece)
  }
  const value = parsed(Buffer.concat(pieces).toString())
  if (format !== undefined && typeof value?.format === 'string' && value.format !== format)
    throw new SetupFault('The format of the backup is not supported by this version of Waxwing.')
  if (!isValid(value)) throw damaged(`${name} is not valid`)
  return value
}

function parsed(text: string): { format?: unknown } | null | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
