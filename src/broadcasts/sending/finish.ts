import type { Db, Tx } from '../../platform/db/db.ts'
import type { IdRange } from '../../platform/db/id-range.ts'
import type { Claim } from '../../platform/queue/queue.ts'
import { endJobs, settleJobs } from '../../platform/queue/settle-jobs.ts'
import type { FailureLog } from '../../platform/runtime/failure-log.ts'
import type { BroadcastId } from '../../platform/values/ids.ts'
import { announceBroadcast } from '../announce.ts'
import { type Broadcast, findBroadcast, lockBroadcast } from '../broadcasts.sql.ts'
import {
  cancelPending,
  markFinished,
  reconcileQueued,
  repairCounts,
  resetCancelled,
  resetPending,
  selectOpenParts,
} from '../ledger/ledger.sql.ts'
import { countWholeLedger, forLedger, type LedgerParts } from '../ledger/ledger-slices.ts'
import { upsertResults } from '../results/results.sql.ts'
import { countResults, countWork } from '../results/results.ts'
import { isRepeated } from './retry.ts'

export type FinishParts = LedgerParts & { db: Db; failures: FailureLog }

/** How often it is checked whether deferred emails and parts in progress have ended. */
const checkEveryMs = 1_000
/** While it is paused. Resuming it wakes the step, unless a process of an earlier version does it. */
export const pausedCheckEveryMs = 60_000
/** Checks between two looks at messages that were ended otherwise, for example because their contact was erased. */
const reconcileEvery = 30

/**
 * Ends a broadcast when all its parts have ended and no deferred email is left, otherwise checks again later. The result is
 * counted from the ledger, so a broadcast is only reported as sent if every recipient is accounted for.
 */
export async function finishBroadcast(parts: FinishParts, claim: Claim, id: BroadcastId): Promise<void> {
  const { organizationId } = claim
  const end = (retryInMs: number | null) => endJobs(parts.db, [{ claim, retryInMs }])
  const broadcast = await findBroadcast(parts.db, organizationId, id)
  const isCancelled = broadcast?.status === 'cancelled'
  if (!broadcast || !(broadcast.status === 'sending' || broadcast.status === 'paused' || isCancelled)) return end(null)
  if (broadcast.status === 'paused') return waitWhilePaused(parts.db, claim, id)
  if (broadcast.counts.queued && claim.attempt % reconcileEvery === reconcileEvery - 1)
    await forLedger(parts, broadcast, (tx, range) => reconcileQueued(tx, broadcast, range))
  const isBusy = (broadcast.counts.queued ?? 0) > 0 || (await selectOpenParts(parts.db, organizationId, id)).length > 0
  if (isBusy) return end(checkEveryMs)
  // From here on, nothing makes a recipient pending or queued.
  if (isCancelled && !(await forLedger(parts, broadcast, (tx, range) => endPending(tx, broadcast, range))))
    return end(0)
  const { counts: before } = (await findBroadcast(parts.db, organizationId, id)) ?? broadcast
  const counted = await countWholeLedger(parts, broadcast)
  if (!counted) return end(0)
  if (counted.pending || counted.queued) return end(checkEveryMs)
  const isEnded = await parts.db.begin(async (tx) => {
    const current = await lockBroadcast(tx, organizationId, id)
    const isSame = current?.status === broadcast.status
    if (isSame) {
      await repairCounts(tx, broadcast, { before, counted })
      await markFinished(tx, broadcast, isCancelled && !isRepeated(broadcast) ? 'cancelled' : 'sent')
      await announceBroadcast(tx, broadcast, 'broadcastFinished')
    }
    await settleJobs(tx, [{ claim, retryInMs: isSame ? null : 0 }])
    return isSame
  })
  if (isEnded) await storeResults(parts, broadcast)
}

/** Recipients of a retry that was cancelled are failed, as they were before. */
async function endPending(tx: Tx, broadcast: Broadcast, range: IdRange): Promise<void> {
  if (!isRepeated(broadcast)) return cancelPending(tx, broadcast, range)
  await resetPending(tx, broadcast, range)
  await resetCancelled(tx, broadcast, range)
}

/** Under the lock of the broadcast, so that it cannot be resumed in between. */
const waitWhilePaused = (db: Db, claim: Claim, id: BroadcastId): Promise<void> =>
  db.begin(async (tx) => {
    const current = await lockBroadcast(tx, claim.organizationId, id)
    const retryInMs = current?.status === 'paused' ? pausedCheckEveryMs : 0
    await settleJobs(tx, [{ claim, retryInMs }])
  })

/** Counts the results for the first request. If this fails or is interrupted, they are counted when somebody asks for them. */
async function storeResults(parts: FinishParts, broadcast: Broadcast): Promise<void> {
  try {
    const results = await countResults(parts, broadcast)
    if (results) await upsertResults(parts.db.statement, broadcast.organizationId, results)
    parts.failures.succeeded(countWork)
  } catch (error) {
    parts.failures.failed(countWork, error)
  }
}
