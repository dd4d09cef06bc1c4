import { type Db, isDataFault } from '../db/db.ts'
import { type Claim, dropLane, endJobs } from '../queue/queue.ts'
import type { WorkerSpec } from '../queue/worker.ts'
import type { Log } from '../runtime/log.ts'
import { TaskLimitExceeded } from '../tasks/pool.ts'
import { Refusal } from '../values/errors.ts'
import type { OrganizationId } from '../values/ids.ts'
import { CsvFault, sliceBytes } from './csv.ts'
import type { ReadSlice, SliceInput } from './import.task.ts'
import {
  countStart,
  findChunk,
  findUnfinished,
  finishImport,
  type Import,
  insertProblems,
  lockImport,
  type Progress,
  resetStarts,
  updateProgress,
} from './imports.sql.ts'
import { attributesTooLarge } from './member-input.ts'
import { lockGroups } from './members.sql.ts'
import { noneStored, storeMembers } from './members.ts'
import { takeObjections } from './suppressions.ts'
import { inTransaction } from './transaction.ts'

export const importKind = 'contacts.import'

export const problemsKeptMax = 1_000
/** After this long an import makes room for others; it continues in its next turn. */
const turnMs = 3_000
/** Imports in progress at once in one process. Each takes a connection and a good part of a core. */
const inHandMax = 2
/** An import that was started this often without progress has ended the process each time, so it fails. */
export const startsMax = 3

export type ImportParts = {
  db: Db
  log: Log
  /** Parses a slice of a file away from the main thread. */
  readSlice: (organizationId: OrganizationId, input: SliceInput) => Promise<ReadSlice>
}

/** Imports files, a slice at a time. Each import is a lane of its own, so that a long one does not hold up a short one. */
export function importWorker(parts: ImportParts): WorkerSpec<Import> {
  const { db } = parts
  return {
    kind: importKind,
    inHandMax,
    laneWidthMax: 1,
    load: (claims: Claim[]) => findUnfinished(db, claims),
    handle: async (claim, record) => {
      const outcome = await importSlice(parts, record, Date.now() + turnMs)
      // What is finished has no job any more. What another worker carries on is not ours to settle, and this does not.
      if (outcome !== 'finished') await endJobs(db.statement, [{ claim, retryInMs: 0 }])
      return { health: 'well' }
    },
  }
}

/**
 * Imports rows from where the record says until the time is over. Rows and progress are one transaction: whenever the
 * process dies, the next run continues behind the last row that was counted. `lost` means that another worker continued it.
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
  if (starts > startsMax) return finish(db, record, progress, gaveUp)
  let fault: string | null = null
  try {
    for (let isOver = false; !isOver; ) {
      const { bytes, isLast } = await readBytes(db, record, progress.offset)
      const { layout, offset, line } = progress
      const slice = await parts.readSlice(record.organizationId, {
        bytes,
        isLast,
        place: { offset, line },
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
      // Not the file's fault, so the import is tried again for as long as that takes. A task process that died counts.
      if (!(error instanceof Refusal)) await resetStarts(db.statement, record.organizationId, record.id).catch(() => {})
      throw error
    }
    fault = reason
    if (!(error instanceof CsvFault)) log.error({ error, importId: record.id }, 'An import failed')
  }
  return finish(db, record, progress, fault)
}

const gaveUp = `The import was started ${startsMax} times without progress. Split the file, or remove the rows behind the last one that was imported.`

/** The reason for a file that would fail again each time; undefined if the file is not the cause. */
function faultOf(error: unknown): string | undefined {
  if (error instanceof CsvFault || error instanceof TaskLimitExceeded) return error.message
  const isOurs = isDataFault(error) || error instanceof TypeError || error instanceof RangeError
  return isOurs ? 'Something went wrong on our side.' : undefined
}

/** `sliceBytes` of the file from `offset` on, or what is left of it. */
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

/** Undefined if the import was not where we expected it to be. */
async function importRows(db: Db, record: Import, before: Progress, slice: ReadSlice): Promise<Progress | undefined> {
  const { organizationId, id, groupId } = record
  const actor = { type: 'import', id } as const
  return inTransaction(db, async (tx) => {
    if (!(await lockImport(tx, organizationId, id, before.offset))) return undefined
    if (groupId && !(await lockGroups(tx, organizationId, [groupId])))
      throw new CsvFault('The group was deleted while the file was being imported.')
    // Before the contacts, so that new ones never are subscribed.
    if (slice.objections.length > 0) await takeObjections(tx, organizationId, slice.objections, actor)
    const stored =
      slice.members.length > 0 ? await storeMembers(tx, organizationId, record, slice.members, actor) : noneStored
    const tooLarge = stored.tooLarge.map(({ index, email }) => ({
      line: index,
      email,
      problem: `attributes ${attributesTooLarge}`,
      cells: null,
    }))
    const rejected = slice.rejected + tooLarge.length
    const kept = [...slice.problems, ...tooLarge].slice(0, Math.max(0, problemsKeptMax - before.rejected))
    if (kept.length > 0) await insertProblems(tx, organizationId, id, kept)
    const progress = {
      ...before,
      layout: slice.layout,
      offset: slice.place.offset,
      line: slice.place.line,
      rows: before.rows + slice.rows,
      created: before.created + stored.created,
      // A person who appears in the file twice was created by one row and updated by the other.
      updated: before.updated + slice.rows - rejected - stored.created,
      rejected: before.rejected + rejected,
    }
    await updateProgress(tx, organizationId, id, progress)
    return progress
  })
}

async function finish(
  db: Db,
  { organizationId, id, bytesTotal }: Import,
  progress: Progress,
  fault: string | null,
): Promise<'finished' | 'lost'> {
  return inTransaction(db, async (tx) => {
    if (!(await lockImport(tx, organizationId, id, progress.offset))) return 'lost'
    if (!fault) await updateProgress(tx, organizationId, id, { ...progress, offset: bytesTotal })
    await finishImport(tx, organizationId, id, fault ? 'failed' : 'done', fault)
    await dropLane(tx, organizationId, importKind, id)
    return 'finished'
  })
}
