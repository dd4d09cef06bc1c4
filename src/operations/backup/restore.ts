import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import type { Db, Session } from '../../platform/db/db.ts'
import { type Migration, readMigrations } from '../../platform/db/migrate.ts'
import { expireLeases } from '../../platform/queue/queue.ts'
import { SetupFault } from '../../platform/values/errors.ts'
import { pauseSending } from '../sending-status/sending-pause.ts'
import { type ArchivedFile, damaged, readArchive } from './archive.ts'
import { countLineFeeds } from './backup.ts'
import type { End, Manifest } from './manifest.ts'
import type { Progress } from './progress.ts'
import { checkSecret, type SecretPlace, type StoredSecret, storeSecret } from './restored-secret.ts'
import { createPartitions, createSchema, finishSchema, prepareSchema, setSequences } from './schema.ts'
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
 * Replaces the content of the database with a backup, in one transaction: if anything fails, nothing has changed. A
 * backup with an older schema is migrated. Throws `SetupFault` if the file, the passphrase, the secret or the database
 * is not suitable.
 */
export async function restore(path: string, options: RestoreOptions): Promise<RestoreResult> {
  const files = readArchive(path, options.passphrase)
  await using session = await options.db.openSession()
  await prepareSchema(session.client, options)
  const spool = new RestoredSpool(options.dataDir)
  try {
    const { secret, manifest } = await readPreamble(files, spool, options)
    await session.client.query('begin')
    const result = await load(session, manifest, files, options)
    await session.client.query('commit')
    if (options.secretPlace) await storeSecret(secret, options.secretPlace)
    await spool.publish()
    await session.client.query('analyze')
    return result
  } catch (error) {
    await spool.discard()
    throw error
  } finally {
    await files.return(undefined)
  }
}

type Files = ReturnType<typeof readArchive>

/** Reads the files before the tables. */
async function readPreamble(files: Files, spool: RestoredSpool, { secretPlace }: RestoreOptions) {
  const secret = await readJson<StoredSecret>(await nextFile(files, 'secret.json'))
  if (secretPlace) checkSecret(secret, secretPlace)
  for (;;) {
    const file = await nextFile(files, 'spool/', 'manifest.json')
    if (file.name !== 'manifest.json') {
      await spool.add(file.content)
      continue
    }
    const manifest = await readJson<Manifest>(file)
    if (manifest.format === 'waxwing backup 1') return { secret, manifest }
    throw new SetupFault('The format of the backup is not supported by this version of Waxwing.')
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
  await client.query('set constraints all deferred')
  progress.begin(0)
  const counts: Record<string, number> = {}
  for (;;) {
    const file = await nextFile(files, 'tables/', 'end.json')
    if (file.name === 'end.json') {
      checkCounts(counts, (await readJson<End>(file)).rows)
      break
    }
    const name = file.name.split('/')[1]!
    counts[name] = (counts[name] ?? 0) + (await loadRows(client, manifest, name, file.content, progress))
  }
  await setSequences(client, manifest.sequences)
  const migrated = await finishSchema(client, manifest, migrations)
  await expireLeases(statement)
  if (pause) await pauseSending(statement, 'restored')
  const rows = Object.values(counts).reduce((sum, count) => sum + count, 0)
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

function checkCounts(found: Record<string, number>, expected: Record<string, number>): void {
  const names = Object.keys(expected)
  if (names.length !== Object.keys(found).length || names.some((name) => found[name] !== expected[name]))
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

async function readJson<Value>({ content }: File): Promise<Value> {
  const pieces: Buffer[] = []
  for await (const piece of content) pieces.push(piece)
  return JSON.parse(Buffer.concat(pieces).toString()) as Value
}
