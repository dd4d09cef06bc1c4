import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import type { Db, Tx } from '../../platform/db/db.ts'
import { type Claim, dropLane } from '../../platform/queue/queue.ts'
import { settleJobs } from '../../platform/queue/settle-jobs.ts'
import type { Handled, WorkerSpec } from '../../platform/queue/worker-spec.ts'
import type { Log } from '../../platform/runtime/log.ts'
import type { SecretBox } from '../../platform/secrets/secrets.ts'
import { dayMs, hourMs, minuteMs } from '../../platform/values/durations.ts'
import { Refusal } from '../../platform/values/errors.ts'
import type { EventExportId, OrganizationId } from '../../platform/values/ids.ts'
import { createFile, type ExportFile } from './export-file.ts'
import { type ExportToRun, findExport, pauseExport, planFile, recordExported, recordFailure } from './exports.sql.ts'
import { bucketOf, exportKind, unreadableKey } from './exports.ts'
import { SlowStorage } from './slow-storage.ts'
import type { Storage } from './storage.ts'

/** Uploads at once in this process. Each holds a file of about 4 MiB, and one that hangs ends after a minute. */
const inFlightMax = 8
/** Of organizations whose storage is slow or hangs, together. */
const slowMax = inFlightMax / 2
const pauseAfterMs = 3 * dayMs

export type ExportJobParts = {
  db: Db
  log: Log
  read: BoundedRead
  box: SecretBox
  storage: Storage
  everyMs: number
  /** Storage that takes longer for a file is slow. */
  slowMs: number
  /** Notifies the organization, in the transaction that pauses the export. */
  onPaused: (
    tx: Tx,
    paused: { organizationId: OrganizationId; id: EventExportId; name: string; reason: string },
  ) => Promise<void>
}

type UploadParts = ExportJobParts & { slow: SlowStorage }

/** Uploads files of events. An export has one job, which is postponed until the next file is due. */
export function exportJob(parts: ExportJobParts): WorkerSpec<ExportToRun> {
  const { db } = parts
  const slow = new SlowStorage()
  return {
    kind: exportKind,
    inFlightMax,
    perOrganizationMax: () => 1,
    slowPeers: { has: (organizationId) => slow.has(organizationId), max: slowMax },
    laneWidthMax: 1,
    load: (claims) => Promise.all(claims.map(({ organizationId, id }) => find(db, organizationId, id))),
    handle: (claim, record) => exportNext({ ...parts, slow }, claim, record),
  }
}

async function find(db: Db, organizationId: OrganizationId, id: string): Promise<ExportToRun | undefined> {
  const found = await findExport(db, organizationId, id as EventExportId)
  return found?.status === 'active' ? found : undefined
}

/**
 * Uploads the next file. Its end and name are stored before, so that a repetition after a crash replaces it instead of
 * adding a file with some of the same events.
 */
async function exportNext(parts: UploadParts, claim: Claim, record: ExportToRun): Promise<Handled> {
  const { db, box, storage, read, slow, slowMs } = parts
  const target = bucketOf(box, record)
  if (!target) return fail(parts, claim, record, unreadableKey)
  const { organizationId, cursor: after, pendingUntil: until } = record
  let file: ExportFile
  try {
    file = await createFile(read, { organizationId, after, until })
  } catch (error) {
    if (!(error instanceof Refusal) || error.type !== 'cursor_expired') throw error
    return skipRemoved(parts, claim, record)
  }
  if (file.events === 0) return succeed(parts, claim, record, { file, name: null })
  const name = record.pendingFile ?? nameOf(record, file)
  // Another worker has taken over.
  if (until === null && !(await planFile(db.statement, record, { until: file.until, name }))) return { peer: 'untried' }
  const startedAt = performance.now()
  const fault = await storage.put(target, { file: name, body: file.body, contentType: 'application/gzip' })
  if (performance.now() - startedAt > slowMs) slow.add(organizationId)
  return fault === null ? succeed(parts, claim, record, { file, name }) : fail(parts, claim, record, fault)
}

/** By day and time, so that files sort, and by the range of cursors. */
function nameOf({ prefix, cursor }: ExportToRun, { until }: ExportFile): string {
  const time = new Date().toISOString()
  const folder = time.slice(0, 10).replaceAll('-', '/')
  return `${prefix}${folder}/${time.slice(11, 23).replaceAll(/[:.]/g, '')}_${cursor ?? 'start'}_${until}.ndjson.gz`
}

type Exported = { file: ExportFile; name: string | null }

async function succeed(parts: ExportJobParts, claim: Claim, record: ExportToRun, { file, name }: Exported) {
  const retryInMs = file.isEnd ? parts.everyMs : 0
  await settle(parts.db, claim, retryInMs, async (tx) => {
    // A repeated file may be followed by more.
    recordExported(tx, record, { cursor: file.until, file: name, events: file.events, note: null })
  })
  return { peer: 'responsive' as const, retryInMs }
}

/** Continues with the oldest event that is kept. */
async function skipRemoved(parts: ExportJobParts, claim: Claim, record: ExportToRun): Promise<Handled> {
  const note = 'Some events were removed by the retention period before they were exported.'
  await settle(parts.db, claim, 0, async (tx) => {
    recordExported(tx, record, { cursor: null, file: null, events: 0, note })
  })
  return { peer: 'responsive', retryInMs: 0 }
}

async function fail(parts: ExportJobParts, claim: Claim, record: ExportToRun, reason: string): Promise<Handled> {
  const retryInMs = Math.min(minuteMs * 2 ** record.failures, hourMs)
  const isPaused = await settle(parts.db, claim, retryInMs, async (tx) => {
    const failing = await recordFailure(tx, record, reason)
    if (!failing || Date.now() - failing.failingSince.getTime() < pauseAfterMs) return false
    const { organizationId, id, name } = record
    await pauseExport(tx, record, 'Paused automatically: every upload failed for 3 days.')
    await dropLane(tx, organizationId, exportKind, id)
    await parts.onPaused(tx, { organizationId, id, name, reason })
    return true
  })
  if (isPaused) parts.log.warn({ export: record.id }, 'An event export was paused after days of failures')
  return { peer: 'unresponsive', retryInMs: isPaused ? null : retryInMs }
}

/** Postpones the job and records its outcome, unless another worker has taken over the lane or the export was changed. */
function settle<Result>(db: Db, claim: Claim, retryInMs: number, record: (tx: Tx) => Promise<Result>) {
  return db.begin(async (tx) => {
    const settled = await settleJobs(tx, [{ claim, retryInMs, untried: true }])
    return settled.size > 0 ? record(tx) : undefined
  })
}
