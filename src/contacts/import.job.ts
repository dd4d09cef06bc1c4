import { type Db, isDataFault } from '../db/db.ts'
import type { Log } from '../log.ts'
import { type Claim, dropLane, endJobs } from '../queue/queue.ts'
import type { WorkerSpec } from '../queue/worker.ts'
import { isStorable } from '../text.ts'
import { guessColumns, mapColumns, readRow } from './columns.ts'
import { CsvFault, type CsvRow, inspect, readCsv } from './csv.ts'
import {
  findChunk,
  findUnfinished,
  finishImport,
  holdImport,
  type Import,
  type ImportProblem,
  insertProblems,
  type Progress,
  updateProgress,
} from './imports.sql.ts'
import { MemberReader, sentenceOf, shownEmailMax } from './member-input.ts'
import { holdGroups } from './members.sql.ts'
import { storeMembers } from './members.ts'
import { type Objection, takeObjections } from './suppressions.ts'
import { inTransaction } from './transaction.ts'

export const importKind = 'contacts.import'

/** Rows that are stored, and counted, by one transaction. */
const batchRowsMax = 5_000
export const problemsKeptMax = 1_000
/** After this long an import makes room for others; it goes on in its next turn. */
const sliceMs = 3_000
/** Imports under way at once in one process. Each takes a connection and a good part of a core. */
const inHandMax = 2

export type ImportParts = { db: Db; log: Log }

/** Imports files, a slice at a time. Each import is a lane of its own, so that a long one does not hold up a short one. */
export function importWorker({ db, log }: ImportParts): WorkerSpec<Import> {
  return {
    kind: importKind,
    inHandMax,
    laneWidthMax: 1,
    load: (claims: Claim[]) => findUnfinished(db, claims),
    handle: async (claim, record) => {
      const outcome = await importSlice({ db, log }, record, Date.now() + sliceMs)
      // What is finished has no job any more. What another worker carries on is not ours to settle, and this does not.
      if (outcome !== 'finished') await endJobs(db.alone, [{ claim, retryInMs: 0 }])
      return { health: 'well' }
    },
  }
}

/**
 * Imports rows from where the record says until the time is over. Rows and progress are one transaction: whenever the
 * process dies, the next run goes on behind the last row that was counted. `lost` means that someone else has gone on.
 */
export async function importSlice(
  { db, log }: ImportParts,
  record: Import,
  until: number,
): Promise<'more' | 'finished' | 'lost'> {
  let progress: Progress | undefined = record.progress
  let fault: string | null | undefined = null
  try {
    progress = await withLayout(db, record)
    if (!progress) return 'lost'
    for await (const rows of readCsv(pieces(db, record, progress.offset), progress.layout!.delimiter, progress)) {
      for (let at = 0; at < rows.length; at += batchRowsMax) {
        progress = await importRows(db, record, progress, rows.slice(at, at + batchRowsMax))
        if (!progress) return 'lost'
        if (Date.now() >= until) return 'more'
      }
    }
  } catch (error) {
    if (!progress) throw error
    fault = faultOf(error)
    // Anything else is no fault of the file: it is tried again for as long as that takes.
    if (fault === undefined) throw error
    if (!(error instanceof CsvFault)) log.error({ error, importId: record.id }, 'An import failed')
  }
  return finish(db, record, progress, fault)
}

/** What to tell the owner of a file that would fail again each time; undefined when it is not the file's doing. */
function faultOf(error: unknown): string | undefined {
  if (error instanceof CsvFault) return error.message
  const isOurs = isDataFault(error) || error instanceof TypeError || error instanceof RangeError
  return isOurs ? 'Something went wrong on our side.' : undefined
}

/** The pieces of the file from `offset` on, one in memory at a time. */
async function* pieces(db: Db, { organizationId, id }: Import, offset: number): AsyncGenerator<Buffer> {
  for (let at = offset; ; ) {
    const chunk = await findChunk(db, organizationId, id, at)
    if (!chunk) return
    yield chunk.bytes.subarray(at - chunk.startsAt)
    at = chunk.startsAt + chunk.bytes.length
  }
}

/** At the first run: finds out what separates the cells and which column is what, and goes behind the header. */
async function withLayout(db: Db, record: Import): Promise<Progress | undefined> {
  if (record.progress.layout) return record.progress
  const start = await findChunk(db, record.organizationId, record.id, 0)
  const { offset, delimiter } = inspect(start?.bytes ?? Buffer.alloc(0))
  const first = await firstRow(readCsv(pieces(db, record, offset), delimiter, { offset, line: 0 }))
  const { columns, hasHeader, note } = record.mapping
    ? { columns: mapColumns(first.cells, record.mapping), hasHeader: record.mapping.has_header ?? true, note: null }
    : guessColumns(first.cells)
  const place = hasHeader ? { offset: first.end, line: first.lastLine } : { offset, line: 0 }
  const progress = { ...record.progress, ...place, layout: { delimiter, columns, note } }
  return inTransaction(db, async (tx) => {
    if (!(await holdImport(tx, record.organizationId, record.id, record.progress.offset))) return undefined
    await updateProgress(tx, record.organizationId, record.id, progress)
    return progress
  })
}

async function firstRow(portions: AsyncGenerator<CsvRow[]>): Promise<CsvRow> {
  for await (const [row] of portions) if (row) return row
  throw new CsvFault('The file is empty.')
}

/** Undefined when the import was not where we thought it was. */
async function importRows(db: Db, record: Import, before: Progress, rows: CsvRow[]): Promise<Progress | undefined> {
  const { organizationId, id, groupId } = record
  const actor = { type: 'import', id } as const
  const { reader, problems, objections } = readRows(rows, before, record)
  return inTransaction(db, async (tx) => {
    if (!(await holdImport(tx, organizationId, id, before.offset))) return undefined
    if (groupId && !(await holdGroups(tx, organizationId, [groupId])))
      throw new CsvFault('The group was deleted while the file was being imported.')
    // Before the contacts, so that those who are new never are subscribed.
    if (objections.length > 0) await takeObjections(tx, organizationId, objections, actor)
    const created =
      reader.size > 0 ? (await storeMembers(tx, organizationId, record, reader.members, actor)).created : 0
    const kept = problems.slice(0, Math.max(0, problemsKeptMax - before.rejected))
    if (kept.length > 0) await insertProblems(tx, organizationId, id, kept)
    const last = rows.at(-1)!
    const progress = {
      ...before,
      offset: last.end,
      line: last.lastLine,
      rows: before.rows + rows.length,
      created: before.created + created,
      // A person who stands in the file twice was created by one row and updated by the other.
      updated: before.updated + rows.length - problems.length - created,
      rejected: before.rejected + problems.length,
    }
    await updateProgress(tx, organizationId, id, progress)
    return progress
  })
}

function readRows(rows: CsvRow[], { layout }: Progress, { mapping }: Import) {
  const reader = new MemberReader()
  const problems: ImportProblem[] = []
  const objections: Objection[] = []
  rows.forEach(({ cells, line }, index) => {
    const row = readRow(cells, layout!.columns, mapping === null)
    if ('problem' in row) problems.push({ line, email: storable(row.email), problem: row.problem })
    else if (!reader.add(row.member, index)) {
      const rejected = reader.rejected.at(-1)!
      problems.push({ line, email: storable(rejected.email), problem: sentenceOf(rejected) })
    } else if (row.objection) objections.push({ email: row.member.email, reason: row.objection })
  })
  return { reader, problems, objections }
}

function storable(email: string | null): string | null {
  const shown = email?.slice(0, shownEmailMax) ?? null
  return shown !== null && isStorable(shown) ? shown : null
}

async function finish(
  db: Db,
  { organizationId, id, bytesTotal }: Import,
  progress: Progress,
  fault: string | null,
): Promise<'finished' | 'lost'> {
  return inTransaction(db, async (tx) => {
    if (!(await holdImport(tx, organizationId, id, progress.offset))) return 'lost'
    if (!fault) await updateProgress(tx, organizationId, id, { ...progress, offset: bytesTotal })
    await finishImport(tx, organizationId, id, fault ? 'failed' : 'done', fault)
    await dropLane(tx, organizationId, importKind, id)
    return 'finished'
  })
}
