import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type pg from 'pg'
import type { Db } from '../../platform/db/db.ts'
import type { Bucket } from '../../platform/object-storage/bucket.ts'
import { SetupFault } from '../../platform/values/errors.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import { readBucketChunks } from './bucket-chunks.ts'
import { selectMigrations } from './catalog.sql.ts'
import { writeNewFile } from './new-file.ts'
import { findOrganization, readRows, selectTenantTables } from './organization.sql.ts'
import { emptyTables } from './organization-tables.ts'
import type { Progress } from './progress.ts'

/** The first line of an export. */
export type ExportHeader = {
  format: 'waxwing organization 1'
  organization_id: OrganizationId
  waxwing: string
  migrations: number[]
}
/** Precedes the rows of a table. */
export type TableLine = { table: string; columns: string[] }
/** The last line. */
export type EndLine = { rows: number }

export type ExportOptions = {
  db: Db
  organizationId: OrganizationId
  waxwing: string
  /** Where images are stored, if not in the database. */
  bucket?: Bucket | undefined
  progress: Progress
}

/** `missing`: how many files were not found in the bucket. */
export type ExportResult = { rows: number; missing: number }

/**
 * Writes everything of one organization to a file, one JSON value per line, in one snapshot. Two exports of unchanged
 * rows have the same bytes. Throws `SetupFault` if the organization does not exist.
 */
export async function exportOrganization(path: string, options: ExportOptions): Promise<ExportResult> {
  await using session = await options.db.openSession()
  const { client } = session
  await client.query('begin isolation level repeatable read read only')
  const organization = await findOrganization(client, options.organizationId)
  if (!organization || organization.isDeleted)
    throw new SetupFault('There is no organization with this id. Its id is in Settings → Organization.')
  const count = { rows: 0, missing: 0 }
  await writeNewFile(path, (file) => pipeline(Readable.from(linesOf(client, options, count)), file))
  return count
}

async function* linesOf(
  client: pg.Client,
  { organizationId, waxwing, bucket, progress }: ExportOptions,
  count: ExportResult,
): AsyncGenerator<string> {
  const source = { bucket, organizationId, onMissing: () => count.missing++ }
  const migrations = (await selectMigrations(client)) ?? []
  const header: ExportHeader = {
    format: 'waxwing organization 1',
    organization_id: organizationId,
    waxwing,
    migrations: migrations.map(({ number }) => number),
  }
  yield `${JSON.stringify(header)}\n`
  for (const table of await selectTenantTables(client)) {
    const { name, columns } = table
    yield `${JSON.stringify({ table: name, columns } satisfies TableLine)}\n`
    if (emptyTables.has(name)) continue
    for await (const lines of readRows(client, table, organizationId)) {
      count.rows += lines.length
      progress.advance(name, lines.length)
      yield `${lines.join('\n')}\n`
    }
    if (name !== 'stored_file_chunks') continue
    for await (const chunk of readBucketChunks(client, source)) {
      count.rows++
      progress.advance(name, 1)
      yield `${JSON.stringify(chunk)}\n`
    }
  }
  yield `${JSON.stringify({ rows: count.rows } satisfies EndLine)}\n`
}
