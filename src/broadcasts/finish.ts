import type { Db } from '../db/db.ts'
import { type Claim, settleJobs } from '../queue/queue.ts'
import type { BroadcastId } from '../values/ids.ts'
import { announceBroadcast } from './announce.ts'
import { lockBroadcast } from './broadcasts.sql.ts'
import { cancelPending, markFinished, reconcileQueued, recount, selectOpenParts } from './ledger.sql.ts'

const countTimeoutMs = 600_000
/** How often it is checked whether deferred emails and parts in progress have ended. */
const checkEveryMs = 1_000
/** Checks between two looks at messages that were ended otherwise, for example because their contact was erased. */
const reconcileEvery = 30

/**
 * Ends a broadcast when all its parts have ended and no deferred email is left, otherwise checks again later. The result is
 * counted from the ledger, so a broadcast is only reported as sent if every recipient is accounted for.
 */
export async function finishBroadcast(db: Db, claim: Claim, id: BroadcastId): Promise<void> {
  const { organizationId } = claim
  await db.begin(
    async (tx) => {
      const broadcast = await lockBroadcast(tx, organizationId, id)
      const isOpen = broadcast && (broadcast.status === 'sending' || broadcast.status === 'paused')
      const isCancelled = broadcast?.status === 'cancelled'
      if (!broadcast || !(isOpen || isCancelled)) return settleJobs(tx, [{ claim, retryInMs: null }])
      if (broadcast.counts.queued && claim.attempt % reconcileEvery === reconcileEvery - 1) {
        await reconcileQueued(tx, broadcast)
        await recount(tx, broadcast)
      }
      const isBusy =
        (broadcast.counts.queued ?? 0) > 0 ||
        broadcast.status === 'paused' ||
        (await selectOpenParts(tx, organizationId, id)).length > 0
      if (isBusy) return settleJobs(tx, [{ claim, retryInMs: checkEveryMs }])
      if (isCancelled) await cancelPending(tx, broadcast)
      const counts = await recount(tx, broadcast)
      if (counts.pending || counts.queued) return settleJobs(tx, [{ claim, retryInMs: checkEveryMs }])
      await markFinished(tx, broadcast, isCancelled ? 'cancelled' : 'sent')
      await announceBroadcast(tx, broadcast, 'broadcastFinished')
      await settleJobs(tx, [{ claim, retryInMs: null }])
    },
    { statementTimeoutMs: countTimeoutMs },
  )
}
