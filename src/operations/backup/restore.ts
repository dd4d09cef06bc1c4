import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import type { Db, Session } from '../../platform/db/db.ts'
import { type Migration, readMigrations } from '../../platform/db/migrate.ts'
import { expireLeases } from '../../platform/queue/queue.ts'
import { pauseSending } from '../sending-status/sending-pause.ts'
import { countLineFeeds } from './backup.ts'
import { ByteReader, truncated } from './byte-reader.ts'
import { openContainer } from './container.ts'
import type { Progress } from './progress.ts'
import { checkSecret, parseSecret, type SecretPlace, type StoredSecret, storeSecret } from './restored-secret.ts'
import { createPartitions, createSchema, finishSchema, prepareSchema, setSequences } from './schema.ts'
import { decodeSections, type Manifest, type OpenSection } from './sections.ts'
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
  await using container = await openContainer(path, options)
  const sections = decodeSections(new ByteReader(container.content))
  await using session = await options.db.openSession()
  await prepareSchema(session.client, options)
  const spool = new RestoredSpool(options.dataDir)
  try {
    const { secret, manifest } = await readPreamble(sections, spool, options)
    await session.client.query('begin')
    const result = await load(session, manifest, sections, options)
    await session.client.query('commit')
    if (options.secretPlace) await storeSecret(secret, options.secretPlace)
    await spool.publish()
    await session.client.query('analyze')
    return result
  } catch (error) {
    await spool.discard()
    throw error
  }
}

type Sections = AsyncGenerator<OpenSection>

/** Reads the sections before the tables. */
async function readPreamble(sections: Sections, spool: RestoredSpool, { secretPlace }: RestoreOptions) {
  let secret: StoredSecret | undefined
  for (;;) {
    const { section, content } = await nextSection(sections)
    if (section.section === 'secret') {
      secret = parseSecret(await readAll(content))
      if (secretPlace) checkSecret(secret, secretPlace)
    } else if (section.section === 'spool') await spool.add(content)
    else if (section.section === 'manifest' && secret) {
      await readAll(content)
      return { secret, manifest: section }
    } else throw truncated()
  }
}

async function load(
  { client, statement }: Session,
  manifest: Manifest,
  sections: Sections,
  { pause, progress, migrations = readMigrations() }: RestoreOptions,
): Promise<RestoreResult> {
  await createSchema(client, manifest, migrations)
  await createPartitions(client, manifest.partitions)
  await client.query('set constraints all deferred')
  progress.begin(0)
  const counts: Record<string, number> = {}
  for (;;) {
    const { section, content } = await nextSection(sections)
    if (section.section === 'end') {
      await readAll(content)
      checkCounts(counts, section.rows)
      break
    }
    if (section.section !== 'table') throw truncated()
    counts[section.name] = await loadTable(client, manifest, section.name, content, progress)
  }
  await setSequences(client, manifest.sequences)
  const migrated = await finishSchema(client, manifest, migrations)
  await expireLeases(statement)
  if (pause) await pauseSending(statement, 'restored')
  const rows = Object.values(counts).reduce((sum, count) => sum + count, 0)
  const { createdAt, waxwing, tables } = manifest
  return { createdAt, waxwing, tables: tables.length, rows, migrated }
}

async function loadTable(
  client: pg.Client,
  { tables }: Manifest,
  name: string,
  content: AsyncIterable<Buffer>,
  progress: Progress,
): Promise<number> {
  const table = tables.find((entry) => entry.name === name)
  if (!table) throw truncated()
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
    throw truncated()
}

async function nextSection(sections: Sections): Promise<OpenSection> {
  const next = await sections.next()
  if (next.done) throw truncated()
  return next.value
}

async function readAll(content: AsyncIterable<Buffer>): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of content) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}
