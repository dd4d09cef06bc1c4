import type { Db, Tx } from '../db/db.ts'
import { type Claim, dropLane, endJobs } from '../queue/queue.ts'
import type { WorkerSpec } from '../queue/worker.ts'
import { Refusal } from '../values/errors.ts'
import type { ContactId, OrganizationId } from '../values/ids.ts'
import {
  type BulkAction,
  findUnfinishedActions,
  finishBulkAction,
  insertSelectedContacts,
  lockBulkAction,
  recordProcessed,
  selectNextContacts,
  setTotal,
} from './bulk-actions.sql.ts'
import { addManyToGroup, removeManyFromGroup, suppressContacts, unsubscribeContacts } from './bulk-changes.ts'
import type { Actor } from './history.ts'
import { inTransaction } from './transaction.ts'

export const bulkActionKind = 'contacts.bulk'

/** After this time, an action yields to others and continues in its next turn. */
const turnMs = 3_000
const inFlightMax = 2
/** Rare, because every new job is announced by a hint. */
const claimEveryMs = 1_000
const batchMax = 500
/** Erasing a contact takes about ten statements. */
const eraseBatchMax = 20
/** For the statement that selects the contacts. */
const selectTimeoutMs = 5 * 60 * 1_000

export type BulkActionParts = {
  db: Db
  /** Erases the personal data of a contact. Returns false if it does not exist. */
  erase: (tx: Tx, organizationId: OrganizationId, id: ContactId) => Promise<boolean>
}

/** Carries out bulk actions in batches. Each action has its own lane, so that a long one does not delay a short one. */
export function bulkActionWorker(parts: BulkActionParts): WorkerSpec<BulkAction> {
  return {
    kind: bulkActionKind,
    inFlightMax,
    laneWidthMax: 1,
    claimEveryMs,
    load: (claims: Claim[]) => findUnfinishedActions(parts.db, claims),
    handle: async (claim, record) => {
      const isFinished = await runBulkAction(parts, record, Date.now() + turnMs)
      if (!isFinished) await endJobs(parts.db, [{ claim, retryInMs: 0 }])
      return { peer: 'responsive' }
    },
  }
}

/** Runs batches until the time is up. A batch and its progress are committed together. Returns true at the end. */
async function runBulkAction(parts: BulkActionParts, record: BulkAction, until: number): Promise<boolean> {
  if (record.total === null) await select(parts.db, record)
  for (;;) {
    const outcome = await runBatch(parts, record).catch((error: unknown) => {
      if (!(error instanceof Refusal)) throw error
      return finish(parts.db, record, error.message)
    })
    if (outcome === 'finished') return true
    if (Date.now() >= until) return false
  }
}

/** Determines the contacts once, so that the action does not depend on what it changes itself. */
async function select(db: Db, { organizationId, id }: BulkAction): Promise<void> {
  await db.begin(
    async (tx) => {
      const record = await lockBulkAction(tx, organizationId, id)
      if (record?.total !== null) return
      await insertSelectedContacts(tx, record)
      await setTotal(tx, organizationId, id)
    },
    { statementTimeoutMs: selectTimeoutMs },
  )
}

async function runBatch(parts: BulkActionParts, { organizationId, id }: BulkAction): Promise<'more' | 'finished'> {
  return inTransaction(parts.db, async (tx) => {
    const record = await lockBulkAction(tx, organizationId, id)
    if (!record) return 'finished'
    const limit = record.action === 'erase' ? eraseBatchMax : batchMax
    const ids = await selectNextContacts(tx, organizationId, id, limit)
    if (ids.length > 0) await recordProcessed(tx, organizationId, id, ids, await change(parts, tx, record, ids))
    if (ids.length === limit) return 'more'
    await finishBulkAction(tx, organizationId, id, 'done', null)
    await dropLane(tx, organizationId, bulkActionKind, id)
    return 'finished'
  })
}

async function finish(db: Db, { organizationId, id }: BulkAction, reason: string): Promise<'finished'> {
  await db.begin(async (tx) => {
    await finishBulkAction(tx, organizationId, id, 'failed', reason)
    await dropLane(tx, organizationId, bulkActionKind, id)
  })
  return 'finished'
}

/** Returns how many contacts were changed. */
async function change(parts: BulkActionParts, tx: Tx, record: BulkAction, ids: ContactId[]): Promise<number> {
  const { organizationId, action, groupId } = record
  const actor = { type: record.actorType, id: record.actorId } as Actor
  switch (action) {
    case 'add_to_group':
      return addManyToGroup(tx, organizationId, groupId!, ids, actor)
    case 'remove_from_group':
      return removeManyFromGroup(tx, organizationId, groupId!, ids, actor)
    case 'unsubscribe':
      return unsubscribeContacts(tx, organizationId, ids, actor)
    case 'suppress':
      return suppressContacts(tx, organizationId, ids, actor)
    case 'erase': {
      let erased = 0
      for (const id of ids) if (await parts.erase(tx, organizationId, id)) erased++
      return erased
    }
  }
}
