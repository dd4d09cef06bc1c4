import { type Db, isDataFault, type Tx } from '../../platform/db/db.ts'
import { dropLane } from '../../platform/queue/queue.ts'
import { turnWorker } from '../../platform/queue/turn-worker.ts'
import type { WorkerSpec } from '../../platform/queue/worker-spec.ts'
import type { Log } from '../../platform/runtime/log.ts'
import { TaskLimitExceeded } from '../../platform/tasks/pool.ts'
import { Refusal } from '../../platform/values/errors.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import { lockGroups } from '../contacts/locks.ts'
import { attributesTooLarge } from '../contacts/member-input.ts'
import { noneStored, storeMembers } from '../contacts/members.ts'
import { inTransaction } from '../contacts/transaction.ts'
import { type ImportedSuppression, importSuppressions } from '../suppressions/suppressions.ts'
import { CsvFault, sliceBytes } from './csv.ts'
import type { ReadSlice, SliceInput } from './import.task.ts'
import { insertImportChanges, type NewImportChange } from './import-changes.sql.ts'
import {
  countKnown,
  countStart,
  findChunk,
  findUnfinished,
  finishImport,
  type Import,
  type ImportProblem,
  insertProblems,
  lockImport,
  markChecked,
  type Progress,
  resetStarts,
  updateProgress,
} from './imports.sql.ts'

export const importKind = 'contacts.import'

const problemsKeptMax = 1_000
/** Imports in progress at the same time in one process. Each uses a connection and much of a core. */
const inFlightMax = 3
/** An import that was started this often without progress has crashed the process each time, so it fails. */
export const startsMax = 3

export type ImportParts = {
  db: Db
  log: Log
  /** Parses a slice of a file in a task process. */
  readSlice: (organizationId: OrganizationId, input: SliceInput) => Promise<ReadSlice>
  /** Notifies the user who started the import, in the transaction that finishes it. */
  onFinished?: (tx: Tx, finished: FinishedImport) => Promise<void>
}

type FinishedImport = Pick<Import, 'organizationId' | 'id' | 'fileName' | 'createdBy'> &
  Pick<Progress, 'created' | 'updated' | 'rejected'> & { fault: string | null }

/** Imports files, one slice at a time. */
export const importWorker = (parts: ImportParts): WorkerSpec<Import> =>
  turnWorker({
    db: parts.db,
    kind: importKind,
    inFlightMax,
    load: (claims) => findUnfinished(parts.db, claims),
    run: async (record, until) => (await importSlice(parts, record, until)) === 'finished',
  })

/**
 * Imports rows from the recorded position until the time is up. Rows and progress are committed together: after a
 * crash, the next run continues after the last counted row. Returns `lost` if another worker has continued the import.
 */
export async function importSlice(
  parts: ImportParts,
  record: Import,
  until: number,
): Promise<'more' | 'finished' | 'lost'> {
  const { db, log } = parts
  let progress: Progress | undefined = record.progress
  const starts = await countStart(db.statement, record.organizationId, record.id)
  if (starts === undefined) return 'lost'
  if (starts > startsMax) return finish(parts, record, progress, gaveUp)
  let fault: string | null = null
  try {
    for (let isOver = false; !isOver; ) {
      const { bytes, isLast } = await readBytes(db, record, progress.offset)
      const { layout, offset, line } = progress
      const slice = await parts.readSlice(record.organizationId, {
        bytes,
        isLast,
        position: { offset, line },
        layout,
        mapping: record.mapping,
        problemsMax: Math.max(0, problemsKeptMax - progress.rejected),
      })
      fault = slice.fault
      if (slice.rows > 0 || !fault) progress = await importRows(db, record, progress, slice)
      if (!progress) return 'lost'
      isOver = fault !== null || progress.offset >= record.bytesTotal || (isLast && slice.rows === 0)
      if (!isOver && Date.now() >= until) return 'more'
    }
  } catch (error) {
    if (!progress) throw error
    const reason = faultOf(error)
    if (reason === undefined) {
      // The file is not the cause, so the import is retried without limit. A crash of a task process counts as a start.
      if (!(error instanceof Refusal)) await resetStarts(db.statement, record.organizationId, record.id).catch(() => {})
      throw error
    }
    fault = reason
    if (!(error instanceof CsvFault)) log.error({ err: error, importId: record.id }, 'An import failed')
  }
  return finish(parts, record, progress, fault)
}

const gaveUp = `The import was started ${startsMax} times without progress. Split the file, or remove the rows after the last imported row.`

/** Returns the reason if the file would fail on every attempt, or undefined if the file is not the cause. */
function faultOf(error: unknown): string | undefined {
  if (error instanceof CsvFault || error instanceof TaskLimitExceeded) return error.message
  const isOurs = isDataFault(error) || error instanceof TypeError || error instanceof RangeError
  return isOurs ? 'An internal error occurred. See the server log for details.' : undefined
}

/** Returns up to `sliceBytes` bytes of the file from `offset`. */
async function readBytes(db: Db, { organizationId, id, bytesTotal }: Import, offset: number) {
  const pieces: Buffer[] = []
  let at = offset
  while (at < offset + sliceBytes) {
    const chunk = await findChunk(db, organizationId, id, at)
    if (!chunk) break
    pieces.push(chunk.bytes.subarray(at - chunk.startsAt, offset + sliceBytes - chunk.startsAt))
    at = chunk.startsAt + chunk.bytes.length
  }
  return { bytes: Buffer.concat(pieces), isLast: offset + sliceBytes >= bytesTotal }
}

/** Returns undefined if the import is not at the expected position. */
async function importRows(db: Db, record: Import, before: Progress, slice: ReadSlice): Promise<Progress | undefined> {
  const { organizationId, id, groupId } = record
  const actor = { type: 'import', id } as const
  return inTransaction(db.by(actor), async (tx) => {
    if (!(await lockImport(tx, organizationId, id, before.offset))) return undefined
    if (record.dryRun) return countRows(tx, record, before, slice)
    if (groupId && !(await lockGroups(tx, organizationId, [groupId])))
      throw new CsvFault('The group was deleted while the file was being imported.')
    // Before the contacts, so that suppressed contacts are never created as subscribed.
    const suppressed = slice.suppressions.length > 0 ? await suppress(tx, organizationId, slice.suppressions) : []
    const stored = slice.members.length > 0 ? await storeMembers(tx, organizationId, record, slice.members) : noneStored
    insertImportChanges(tx, organizationId, id, [
      ...suppressed,
      ...stored.changed.map(({ id: contactId, change }) => ({ contactId, change })),
    ])
    const tooLarge = stored.tooLarge.map(({ index, email }) => ({
      line: index,
      email,
      problem: `attributes ${attributesTooLarge}`,
      cells: null,
    }))
    return advance(tx, record, before, slice, { created: stored.created, tooLarge })
  })
}

/** A dry run. Addresses that occur in several slices count as created in each, since nothing is stored of them. */
async function countRows(tx: Tx, record: Import, before: Progress, slice: ReadSlice): Promise<Progress> {
  const keys = slice.members.map(({ emailKey }) => emailKey)
  const known = keys.length === 0 ? 0 : await countKnown(tx, record.organizationId, keys)
  return advance(tx, record, before, slice, { created: keys.length - known, tooLarge: [] })
}

type Outcome = { created: number; tooLarge: ImportProblem[] }

async function advance(
  tx: Tx,
  { organizationId, id }: Import,
  before: Progress,
  slice: ReadSlice,
  { created, tooLarge }: Outcome,
): Promise<Progress> {
  const rejected = slice.rejected + tooLarge.length
  const kept = [...slice.problems, ...tooLarge].slice(0, Math.max(0, problemsKeptMax - before.rejected))
  if (kept.length > 0) await insertProblems(tx, organizationId, id, kept)
  const progress = {
    ...before,
    layout: slice.layout,
    offset: slice.position.offset,
    line: slice.position.line,
    rows: before.rows + slice.rows,
    created: before.created + created,
    // A contact that occurs in two rows was created by one and updated by the other.
    updated: before.updated + slice.rows - rejected - created,
    rejected: before.rejected + rejected,
  }
  await updateProgress(tx, organizationId, id, progress)
  return progress
}

/** Returns the changes for the undo. */
async function suppress(tx: Tx, organizationId: OrganizationId, suppressions: ImportedSuppression[]) {
  const { added, unsubscribed } = await importSuppressions(tx, organizationId, suppressions)
  return [
    ...unsubscribed.map(({ id, subscription }): NewImportChange => {
      return { contactId: id, change: { subscription: [subscription, 'unsubscribed'] } }
    }),
    // After the contacts: they are undone first, since only a contact without unsubscription is restored.
    ...added.map(({ emailKey, reason }): NewImportChange => {
      return { contactId: null, change: { email_key: emailKey, reason } }
    }),
  ]
}

async function finish(
  { db, onFinished }: ImportParts,
  { organizationId, id, bytesTotal, fileName, createdBy, dryRun }: Import,
  progress: Progress,
  fault: string | null,
): Promise<'finished' | 'lost'> {
  return inTransaction(db, async (tx) => {
    if (!(await lockImport(tx, organizationId, id, progress.offset))) return 'lost'
    if (!fault) await updateProgress(tx, organizationId, id, { ...progress, offset: bytesTotal })
    if (dryRun && !fault) markChecked(tx, organizationId, id)
    else await finishImport(tx, organizationId, id, fault ? 'failed' : 'done', fault)
    await dropLane(tx, organizationId, importKind, id)
    if (dryRun) return 'finished'
    const { created, updated, rejected } = progress
    await onFinished?.(tx, { organizationId, id, fileName, createdBy, fault, created, updated, rejected })
    return 'finished'
  })
}
