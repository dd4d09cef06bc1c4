import type { Db } from '../../platform/db/db.ts'
import type { SlicesEnd } from '../../platform/db/slices.ts'
import type { Claim } from '../../platform/queue/queue.ts'
import { endJobs, settleJobs } from '../../platform/queue/settle-jobs.ts'
import { type Broadcast, lockBroadcast, updateStatus } from '../broadcasts.sql.ts'
import { resetFailed, resetPending } from '../ledger/ledger.sql.ts'
import { forLedger, type LedgerParts, sliceLedger } from '../ledger/ledger-slices.ts'

/** Whether a broadcast that is being prepared was sent before, and is sent again to the recipients that failed. */
export const isRetry = ({ recipients }: Broadcast): boolean => recipients !== null

/** Whether it is being sent again to the recipients that failed. */
export const isRepeated = ({ round }: Pick<Broadcast, 'round'>): boolean => round > 0

/** Failed recipients become pending. It is stopped if the process is stopping. */
export const resetAllFailed = (parts: LedgerParts, broadcast: Broadcast): Promise<SlicesEnd> =>
  sliceLedger(parts, broadcast, (tx, range) => resetFailed(tx, broadcast, range))

/** Ends a retry that could not begin: the broadcast is sent, with the same failed recipients as before. */
export async function endRetry(
  parts: LedgerParts & { db: Db },
  claim: Claim,
  broadcast: Broadcast,
  why: { reason: string; detail: string },
): Promise<void> {
  const isReset = await forLedger(parts, broadcast, (tx, range) => resetPending(tx, broadcast, range))
  if (!isReset) return endJobs(parts.db, [{ claim, retryInMs: 0 }])
  await parts.db.begin(async (tx) => {
    const current = await lockBroadcast(tx, broadcast.organizationId, broadcast.id)
    await settleJobs(tx, [{ claim, retryInMs: null }])
    if (current?.status === 'preparing') await updateStatus(tx, broadcast, { status: 'sent', ...why })
  })
}
