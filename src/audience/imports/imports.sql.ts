import type { Reader, Tx, Writer } from '../../platform/db/db.ts'
import { findByKeys, type RowKey } from '../../platform/db/find-by-keys.ts'
import { first, firstValue, hasRows, onlyValue } from '../../platform/db/rows.ts'
import { sql } from '../../platform/db/sql.ts'
import type { GroupId, ImportId, OrganizationId, UserId } from '../../platform/values/ids.ts'
import type { ActorType } from '../contacts/history.ts'
import type { Columns, Mapping } from './columns.ts'
import type { Delimiter } from './csv.ts'

type ImportStatus = 'uploading' | 'queued' | 'running' | 'checked' | 'done' | 'failed' | 'cancelled'

/** Everything needed to resume after a crash, committed with the rows it covers. */
export type Progress = {
  /** The offset after the last processed row. */
  offset: number
  line: number
  rows: number
  created: number
  updated: number
  rejected: number
  /** Null until the first row has been read. */
  layout: Layout | null
}

/** `header` is undefined if the file has none. */
export type Layout = { delimiter: Delimiter; columns: Columns; note: string | null; header?: string[] }

const noProgress: Progress = { offset: 0, line: 0, rows: 0, created: 0, updated: 0, rejected: 0, layout: null }

export type Import = {
  id: ImportId
  organizationId: OrganizationId
  groupId: GroupId | null
  subscription: 'subscribed' | 'not_subscribed'
  fileName: string
  mapping: Mapping | null
  status: ImportStatus
  /** Whether it only counts what it would do. Its status is `checked` when it has. */
  dryRun: boolean
  reason: string | null
  bytesTotal: number
  progress: Progress
  createdAt: Date
  finishedAt: Date | null
  /** The user who started it. Null for imports from before this was recorded. */
  createdBy: UserId | null
  /** Whether its changes are recorded. */
  isUndoable: boolean
  undo: Undo | null
}

/** The state of an undo, and everything needed to resume it after a crash. */
export type Undo = {
  status: 'queued' | 'running' | 'done' | 'failed'
  /** Counts the transactions, so that a worker that was suspended does not repeat one. */
  step: number
  phase: 'created' | 'changed' | 'joined'
  /** The last processed contact of the first phase. */
  after: string | null
  removed: number
  restored: number
  /** Contacts that were changed since, or in part. */
  kept: number
  actorType: ActorType
  actorId: string | null
  requestedAt: string
  finishedAt: string | null
}

export const insertImport = (
  db: Writer,
  record: Pick<
    Import,
    'id' | 'organizationId' | 'groupId' | 'subscription' | 'fileName' | 'mapping' | 'dryRun' | 'createdBy'
  >,
) =>
  db`
    insert into imports (organization_id, id, group_id, subscription, file_name, mapping, dry_run, status, progress,
      created_by, is_undoable)
    values (${record.organizationId}, ${record.id}, ${record.groupId}, ${record.subscription}, ${record.fileName},
      ${record.mapping && JSON.stringify(record.mapping)}, ${record.dryRun}, 'uploading', ${JSON.stringify(noProgress)},
      ${record.createdBy}, true)`

export const insertChunk = (
  db: Writer,
  organizationId: OrganizationId,
  id: ImportId,
  startsAt: number,
  bytes: Buffer,
) =>
  db`
    insert into import_chunks (organization_id, import_id, starts_at, bytes)
    values (${organizationId}, ${id}, ${startsAt}, ${bytes})`

/** Marks the upload as complete. */
export const queueImport = (tx: Tx, organizationId: OrganizationId, id: ImportId, bytesTotal: number) =>
  tx`
    update imports set status = 'queued', bytes_total = ${bytesTotal}
    where organization_id = ${organizationId} and id = ${id}`

export async function deleteImport(tx: Tx, organizationId: OrganizationId, id: ImportId): Promise<void> {
  tx.send`delete from import_chunks where organization_id = ${organizationId} and import_id = ${id}`
  await tx`delete from imports where organization_id = ${organizationId} and id = ${id}`
}

/** Deletes uploads whose process died, dry runs that were not started, and old reports. */
export async function pruneImports(
  tx: Tx,
  organizationId: OrganizationId,
  {
    uploadHoursMax,
    checkedHoursMax,
    reportDaysMax,
  }: Record<'uploadHoursMax' | 'checkedHoursMax' | 'reportDaysMax', number>,
): Promise<void> {
  const pruned = await tx<{ id: ImportId }>`
    delete from imports
    where organization_id = ${organizationId} and (
      status = 'uploading' and created_at < now() - ${uploadHoursMax} * interval '1 hour'
      or status = 'checked' and created_at < now() - ${checkedHoursMax} * interval '1 hour'
      or finished_at < now() - ${reportDaysMax} * interval '1 day')
    returning id`
  if (pruned.length === 0) return
  const ids = pruned.map(({ id }) => id)
  tx.send`delete from import_chunks where organization_id = ${organizationId} and import_id = any (${ids}::uuid[])`
  await tx`delete from import_problems where organization_id = ${organizationId} and import_id = any (${ids}::uuid[])`
}

/** Does not count uploads, because uploads to a process that died would count as well. */
export const countUnfinished = (db: Reader, organizationId: OrganizationId) =>
  onlyValue(db<{ count: number }>`
    select count(*) from imports
    where organization_id = ${organizationId} and finished_at is null and status <> 'uploading'`)

/** Newest first. Skips incomplete uploads. */
export const selectImports = (db: Reader, organizationId: OrganizationId, limit: number) =>
  db<Import>`
    select * from imports
    where organization_id = ${organizationId} and status <> 'uploading'
    order by id desc
    limit ${limit}`

export const findImport = (db: Reader, organizationId: OrganizationId, id: ImportId) =>
  first(db<Import>`
    select * from imports where organization_id = ${organizationId} and id = ${id} and status <> 'uploading'`)

/** Returns the imports in the order of the keys; undefined for those that are deleted or finished. */
export const findUnfinished = (db: Reader, keys: readonly RowKey[]) =>
  findByKeys<Import>(db, sql`imports`, keys, sql`status in ('queued', 'running')`)

/**
 * Locks the import until the end of the transaction. Returns undefined if it has finished, or if another worker has
 * continued it beyond `offset`: a worker that was suspended must not count rows twice.
 */
export const lockImport = (tx: Tx, organizationId: OrganizationId, id: ImportId, offset: number) =>
  first(tx<{ id: ImportId }>`
    select id from imports
    where organization_id = ${organizationId} and id = ${id} and status in ('queued', 'running')
      and (progress ->> 'offset')::bigint = ${offset}
    for update`)

/** Counts a start and returns the number of starts since the last progress, or undefined if the import has finished. */
export const countStart = (db: Writer, organizationId: OrganizationId, id: ImportId) =>
  firstValue(db<{ starts: number }>`
    update imports set status = 'running', starts = starts + 1
    where organization_id = ${organizationId} and id = ${id} and status in ('queued', 'running')
    returning starts`)

export const resetStarts = (db: Writer, organizationId: OrganizationId, id: ImportId) =>
  db`update imports set starts = 0 where organization_id = ${organizationId} and id = ${id}`

export const updateProgress = (tx: Tx, organizationId: OrganizationId, id: ImportId, progress: Progress) =>
  tx`
    update imports set status = 'running', starts = 0, progress = ${JSON.stringify(progress)}
    where organization_id = ${organizationId} and id = ${id}`

/** Returns false if an undo was requested before. */
export const startUndo = (tx: Tx, organizationId: OrganizationId, id: ImportId, undo: Undo) =>
  hasRows(tx`
    update imports set undo = ${JSON.stringify(undo)}::jsonb
    where organization_id = ${organizationId} and id = ${id} and undo is null
    returning id`)

/** Keeps the file of a dry run, so that the import can be started. */
export function markChecked(tx: Tx, organizationId: OrganizationId, id: ImportId): void {
  tx.send`update imports set status = 'checked' where organization_id = ${organizationId} and id = ${id}`
}

/** Makes a checked dry run an import that begins at the start of its file. Returns false if it is not checked. */
export async function restartChecked(tx: Tx, organizationId: OrganizationId, id: ImportId): Promise<boolean> {
  const rows = await tx`
    update imports set status = 'queued', dry_run = false, starts = 0, progress = ${JSON.stringify(noProgress)}
    where organization_id = ${organizationId} and id = ${id} and status = 'checked'
    returning id`
  if (rows.length === 0) return false
  tx.send`delete from import_problems where organization_id = ${organizationId} and import_id = ${id}`
  return true
}

/** Returns how many of these addresses have a contact. */
export const countKnown = (db: Reader, organizationId: OrganizationId, emailKeys: readonly string[]) =>
  onlyValue(db<{ count: number }>`
    select count(*) from unnest(${emailKeys}::text[]) as key (email_key)
    -- "offset 0" keeps the planner from scanning whole tables while their statistics are out of date.
    cross join lateral (
      select from contacts
      where contacts.organization_id = ${organizationId} and contacts.email_key = key.email_key
      offset 0
    ) as known`)

/** Finishes the import and deletes its file. Returns false, and changes nothing, if it had finished before. */
export async function finishImport(
  tx: Tx,
  organizationId: OrganizationId,
  id: ImportId,
  status: 'done' | 'failed' | 'cancelled',
  reason: string | null,
): Promise<boolean> {
  const rows = await tx`
    update imports set status = ${status}, reason = ${reason}, finished_at = now()
    where organization_id = ${organizationId} and id = ${id} and status in ('queued', 'running', 'checked')
    returning id`
  if (rows.length === 0) return false
  tx.send`delete from import_chunks where organization_id = ${organizationId} and import_id = ${id}`
  return true
}

/** `cells` is null if they are too long to keep. */
export type ImportProblem = { line: number; email: string | null; problem: string; cells: string[] | null }

export const insertProblems = (tx: Tx, organizationId: OrganizationId, id: ImportId, problems: ImportProblem[]) =>
  tx`
    insert into import_problems (organization_id, import_id, line, email, problem, cells)
    select ${organizationId}, ${id}, line, email, problem, cells::jsonb from unnest(
      ${problems.map(({ line }) => line)}::int[],
      ${problems.map(({ email }) => email)}::text[],
      ${problems.map(({ problem }) => problem)}::text[],
      ${problems.map(({ cells }) => cells && JSON.stringify(cells))}::text[]) as problem (line, email, problem, cells)
    on conflict do nothing`

export const selectProblems = (db: Reader, organizationId: OrganizationId, id: ImportId) =>
  db<ImportProblem>`
    select line, email, problem, cells from import_problems
    where organization_id = ${organizationId} and import_id = ${id}
    order by line`

/** Returns the chunk that contains the byte at `offset`, or undefined beyond the end. */
export async function findChunk(db: Reader, organizationId: OrganizationId, id: ImportId, offset: number) {
  const [row] = await db<{ startsAt: number; bytes: Buffer }>`
    select starts_at, bytes from import_chunks
    where organization_id = ${organizationId} and import_id = ${id} and starts_at <= ${offset}
    order by starts_at desc
    limit 1`
  return row && offset < row.startsAt + row.bytes.length ? row : undefined
}
