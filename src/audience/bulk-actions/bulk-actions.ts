import type { Db, Reader } from '../../platform/db/db.ts'
import { enqueue } from '../../platform/queue/queue.ts'
import type { Actor } from '../../platform/values/actor.ts'
import { conflict, existing } from '../../platform/values/errors.ts'
import { type BulkActionId, newId, type OrganizationId } from '../../platform/values/ids.ts'
import { checkGroup } from '../contacts/groups.ts'
import { bulkActionKind } from './bulk-action.job.ts'
import {
  type BulkAction,
  countUnfinished,
  findBulkAction,
  finishBulkAction,
  insertBulkAction,
  type NewBulkAction,
  pruneBulkActions,
} from './bulk-actions.sql.ts'

const unfinishedMax = 10
const recordDaysMax = 90

/** Queues an action on many contacts. Throws `Refusal` if the group does not exist or too many are in progress. */
export async function startBulkAction(
  db: Db,
  organizationId: OrganizationId,
  input: Pick<NewBulkAction, 'action' | 'groupId' | 'selection'>,
  actor: Actor,
): Promise<BulkAction> {
  if (input.groupId) await checkGroup(db, organizationId, input.groupId)
  await pruneBulkActions(db.statement, organizationId, recordDaysMax)
  if ((await countUnfinished(db, organizationId)) >= unfinishedMax)
    throw conflict(`At most ${unfinishedMax} bulk actions can be in progress. Wait until one of them has finished.`)
  const id = newId('blk')
  return db.by(actor).begin(async (tx) => {
    await insertBulkAction(tx, { organizationId, id, ...input })
    enqueue(tx, [{ organizationId, kind: bulkActionKind, lane: id, id }])
    // Before the commit: afterwards, a worker may have started it.
    return getBulkAction(tx, organizationId, id)
  })
}

export const getBulkAction = (db: Reader, organizationId: OrganizationId, id: BulkActionId) =>
  existing('bulk action', findBulkAction(db, organizationId, id))

/**
 * Stops an action after the current batch; completed changes are kept. Cancelling a cancelled action has no effect.
 * Throws `Refusal` if it is done or has failed.
 */
export async function cancelBulkAction(db: Db, organizationId: OrganizationId, id: BulkActionId): Promise<BulkAction> {
  await db.begin((tx) => finishBulkAction(tx, organizationId, id, 'cancelled', null))
  const record = await getBulkAction(db, organizationId, id)
  if (record.status !== 'cancelled') throw conflict('This action has already finished.')
  return record
}
