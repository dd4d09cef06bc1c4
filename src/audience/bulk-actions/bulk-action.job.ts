import type { BoundedWork } from '../../platform/db/bounded-work.ts'
import type { Db, Tx } from '../../platform/db/db.ts'
import { firstContactId, lastContactId } from '../../platform/db/id-range.ts'
import { retrying } from '../../platform/db/retrying.ts'
import { runSlices, type SlicesEnd, stopped } from '../../platform/db/slices.ts'
import { dropLane } from '../../platform/queue/queue.ts'
import { turnWorker } from '../../platform/queue/turn-worker.ts'
import type { WorkerSpec } from '../../platform/queue/worker-spec.ts'
import { Refusal } from '../../platform/values/errors.ts'
import type { ContactId, OrganizationId } from '../../platform/values/ids.ts'
import { addMembers, removeMembers } from '../contacts/groups.ts'
import { storedActor } from '../contacts/history.ts'
import { lockGroups } from '../contacts/locks.ts'
import { unsubscribeContacts } from '../contacts/subscriptions.ts'
import { triesMax } from '../contacts/transaction.ts'
import { suppressContacts } from '../suppressions/suppressions.ts'
import {
  type BulkAction,
  deleteSelected,
  findBulkActions,
  findContactSliceEnd,
  finishBulkAction,
  insertSelectedContacts,
  lockBulkAction,
  recordProcessed,
  selectNextContacts,
  setTotal,
  updateSelectedTo,
} from './bulk-actions.sql.ts'

export const bulkActionKind = 'contacts.bulk'

/** Actions in progress at once in this process. They share the connections of `BoundedWork`. */
const inFlightMax = 16
const batchMax = 500
/** Erasing a contact takes about ten statements. */
const eraseBatchMax = 20
const deletedAtOnceMax = 10_000

export type BulkActionParts = {
  db: Db
  work: BoundedWork
  /** Erases the personal data of a contact. Returns false if it does not exist. */
  erase: (tx: Tx, organizationId: OrganizationId, id: ContactId) => Promise<boolean>
}

/** Carries out bulk actions in batches. */
export const bulkActionWorker = (parts: BulkActionParts): WorkerSpec<BulkAction> =>
  turnWorker({
    db: parts.db,
    kind: bulkActionKind,
    inFlightMax,
    load: (claims) => findBulkActions(parts.db, claims),
    run: (record, until) => runBulkAction(parts, record, until),
    giveUp: (record) => fail(parts, record, 'An internal error occurred. See the server log for details.'),
  })

/** Runs slices until the time is up. Returns true when nothing is left to do. */
async function runBulkAction(parts: BulkActionParts, record: BulkAction, until: number): Promise<boolean> {
  const isOver = () => Date.now() >= until
  try {
    if (record.finishedAt) return await cleanUp(parts, record, isOver)
    const selected = record.total === null ? await select(parts, record, isOver) : 'complete'
    if (selected === 'too_expensive') await fail(parts, record, tooExpensive)
    if (selected !== 'complete') return false
    do if (!(await runBatch(parts, record))) return false
    while (!isOver())
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    await fail(parts, record, error.message)
  }
  return false
}

const tooExpensive = 'Selecting the contacts takes too long. Use a filter with fewer or simpler conditions.'

/**
 * Selects the contacts once, so that changes by the action do not affect the selection. It is stopped if the time is up
 * or the action was cancelled. No lock is held while contacts are selected.
 */
async function select({ work }: BulkActionParts, record: BulkAction, isOver: () => boolean): Promise<SlicesEnd> {
  const { organizationId, id, selection } = record
  const run = (after: ContactId, size: number) =>
    work(organizationId, async (tx) => {
      const end = 'contactIds' in selection ? undefined : await findContactSliceEnd(tx, organizationId, after, size)
      const range = { after, to: end ?? lastContactId }
      await insertSelectedContacts(tx, record, range)
      return (await updateSelectedTo(tx, record, range)) ? end : tx.rollback(stopped)
    })
  const from = record.selectedTo ?? firstContactId
  const end = from === lastContactId ? 'complete' : await runSlices({ from, run, isOver })
  if (end === 'complete') await work(organizationId, (tx) => setTotal(tx, organizationId, id))
  return end
}

/**
 * Processes a batch of contacts and records the progress in the same transaction. The action is locked at the end, so
 * that it can be cancelled at any time. Returns false if it has finished.
 */
async function runBatch(parts: BulkActionParts, record: BulkAction): Promise<boolean> {
  const { organizationId, id } = record
  const limit = record.action === 'erase' ? eraseBatchMax : batchMax
  const batch = async (tx: Tx) => {
    const ids = await selectNextContacts(tx, organizationId, id, limit)
    const changed = ids.length > 0 ? await change(parts, tx, record, ids) : 0
    if (!(await lockBulkAction(tx, organizationId, id))) return tx.rollback(false)
    await recordProcessed(tx, organizationId, id, ids, changed)
    if (ids.length === limit) return true
    await finishBulkAction(tx, organizationId, id, 'done', null)
    return false
  }
  const actor = storedActor(record.actorType, record.actorId)
  return retrying(triesMax, () => parts.work(organizationId, batch, { actor }))
}

async function fail({ db }: BulkActionParts, { organizationId, id }: BulkAction, reason: string): Promise<void> {
  await db.begin((tx) => finishBulkAction(tx, organizationId, id, 'failed', reason))
}

/** Deletes the remaining rows of a finished action, and its job. Returns false if the time was up. */
async function cleanUp({ work }: BulkActionParts, { organizationId, id }: BulkAction, isOver: () => boolean) {
  do {
    const isEmpty = await work(organizationId, async (tx) => {
      if ((await deleteSelected(tx, organizationId, id, deletedAtOnceMax)) === deletedAtOnceMax) return false
      await dropLane(tx, organizationId, bulkActionKind, id)
      return true
    })
    if (isEmpty) return true
  } while (!isOver())
  return false
}

/** Returns how many contacts were changed. */
async function change(parts: BulkActionParts, tx: Tx, record: BulkAction, ids: ContactId[]): Promise<number> {
  const { organizationId, action, groupId } = record
  switch (action) {
    case 'add_to_group':
      if (!(await lockGroups(tx, organizationId, [groupId!])))
        throw new Refusal('not_found', 'The group was deleted while contacts were being added.')
      return (await addMembers(tx, organizationId, groupId!, ids)).added
    case 'remove_from_group':
      return removeMembers(tx, organizationId, groupId!, ids)
    case 'unsubscribe':
      return unsubscribeContacts(tx, organizationId, ids)
    case 'suppress':
      return suppressContacts(tx, organizationId, ids)
    case 'erase': {
      let erased = 0
      for (const id of ids) if (await parts.erase(tx, organizationId, id)) erased++
      return erased
    }
  }
}
