import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createBrotliDecompress } from 'node:zlib'
import type pg from 'pg'
import { packageRoot } from '../../platform/config/package-root.ts'
import type { Db } from '../../platform/db/db.ts'
import type { AppSecrets } from '../../platform/secrets/secrets.ts'
import { minuteMs } from '../../platform/values/durations.ts'
import type { OrganizationId, UserId } from '../../platform/values/ids.ts'
import type { ExportHeader } from '../backup/export-organization.ts'
import { insertAll, type Lines, tenantColumns } from '../backup/import-organization.ts'
import { noProgress } from '../backup/progress.ts'
import { moved } from './moved.ts'

/** Lines of an export without accounts, secrets and what is counted. Written by `npm run record-demo`. */
export const recordingPath = join(packageRoot, 'src/operations/demo/recording.jsonl.br')

/** `ends_at`: the time of the recording, which becomes the time of the import. */
export type RecordingHeader = ExportHeader & { user_id: UserId; ends_at: string }

export type DemoOwner = { organizationId: OrganizationId; userId: UserId }

export async function openRecording(path = recordingPath): Promise<{ header: RecordingHeader; lines: Lines }> {
  const source = createReadStream(path).pipe(createBrotliDecompress())
  const lines = createInterface({ input: source, crlfDelay: Number.POSITIVE_INFINITY })[Symbol.asyncIterator]()
  const { value } = await lines.next()
  return { header: JSON.parse(value), lines }
}

/**
 * Imports the rows of the recording into an organization, as if it had just been recorded. Throws if the tables
 * have changed so that its rows no longer fit.
 */
export async function importRecording(
  db: Db,
  { organizationId, userId }: DemoOwner,
  { secrets, baseUrl, nowMs }: { secrets: AppSecrets; baseUrl: string; nowMs: number },
): Promise<void> {
  const { header, lines } = await openRecording()
  const step = 15 * minuteMs
  const byMs = Math.floor((nowMs - Date.parse(header.ends_at)) / step) * step
  const replaced = new Map<string, string>([
    [header.organization_id, organizationId],
    [header.user_id, userId],
  ])
  const current = moved({ [Symbol.asyncIterator]: () => lines }, { byMs, replaced, baseUrl })
  await using session = await db.openSession()
  await session.client.query('begin')
  await insertRecording(session.client, current, { organizationId, secrets })
  await session.client.query('commit')
}

/** Columns that were added since the recording get their default values. */
export async function insertRecording(
  client: pg.Client,
  lines: Lines,
  { organizationId, secrets }: { organizationId: OrganizationId; secrets: AppSecrets },
): Promise<void> {
  const known = await tenantColumns(client)
  const check = ({ table, columns }: { table?: unknown; columns?: unknown }) => {
    const found = { table: table as string, columns: columns as string[] }
    const missing = found.columns.filter((column) => !known.get(found.table)?.includes(column))
    if (missing.length > 0) throw new Error(`There is no ${missing.join(', ')} in ${found.table}.`)
    return found
  }
  try {
    await insertAll(client, lines, { organizationId, secrets, progress: noProgress, check })
  } catch (error) {
    throw new Error(
      `The recording of the demo does not fit the tables any more. Run \`npm run record-demo\`. ${(error as Error).message}`,
      { cause: error },
    )
  }
}
