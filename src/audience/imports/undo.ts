import type { Db } from '../../platform/db/db.ts'
import { enqueue } from '../../platform/queue/queue.ts'
import type { Actor } from '../../platform/values/actor.ts'
import { dayMs } from '../../platform/values/durations.ts'
import { conflict, existing } from '../../platform/values/errors.ts'
import type { ImportId, OrganizationId } from '../../platform/values/ids.ts'
import { inTransaction } from '../contacts/transaction.ts'
import { deleteSomeChanges, selectExpiredChanges, setNotUndoable } from './import-changes.sql.ts'
import { findImport, type Import, startUndo, type Undo } from './imports.sql.ts'

export const undoKind = 'contacts.undo'
export const undoDaysMax = 7
const deletedAtOnceMax = 5_000

/** Until when an import can be undone; null if it cannot be undone. */
export function undoableUntil({ isUndoable, undo, finishedAt, dryRun }: Import): Date | null {
  if (!isUndoable || dryRun || undo || !finishedAt) return null
  const until = new Date(finishedAt.getTime() + undoDaysMax * dayMs)
  return until > new Date() ? until : null
}

/**
 * Queues the undo of an import: it removes the contacts that the import created and restores those that it changed.
 * Throws `Refusal` if the import is in progress, was undone before, or finished too long ago.
 */
export async function undoImport(db: Db, organizationId: OrganizationId, id: ImportId, actor: Actor): Promise<Import> {
  return inTransaction(db, async (tx) => {
    const record = await existing('import', findImport(tx, organizationId, id))
    if (record.undo) throw conflict('This import has already been undone.')
    if (!record.finishedAt) throw conflict('This import has not finished. Cancel it first.')
    if (!undoableUntil(record)) throw conflict(`An import can be undone for ${undoDaysMax} days after it has finished.`)
    const undo: Undo = {
      status: 'queued',
      step: 0,
      phase: 'created',
      after: null,
      removed: 0,
      restored: 0,
      kept: 0,
      actorType: actor.type,
      actorId: actor.id,
      requestedAt: new Date().toISOString(),
      finishedAt: null,
    }
    if (!(await startUndo(tx, organizationId, id, undo))) throw conflict('This import has already been undone.')
    enqueue(tx, [{ organizationId, kind: undoKind, lane: id, id }])
    // Before the commit: afterwards, a worker may have started it.
    return (await findImport(tx, organizationId, id))!
  })
}

/** Deletes the recorded changes of imports that can no longer be undone. */
export async function forgetExpiredChanges(db: Db): Promise<void> {
  for (const { organizationId, importId } of await selectExpiredChanges(db, undoDaysMax)) {
    let deleted: number
    do deleted = await db.begin((tx) => deleteSomeChanges(tx, organizationId, importId, deletedAtOnceMax))
    while (deleted === deletedAtOnceMax)
    await db.begin(async (tx) => setNotUndoable(tx, organizationId, importId))
  }
}
