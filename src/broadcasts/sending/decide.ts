import type { Db } from '../../platform/db/db.ts'
import type { Claim } from '../../platform/queue/queue.ts'
import { endJobs, settleJobs } from '../../platform/queue/settle-jobs.ts'
import type { BroadcastId } from '../../platform/values/ids.ts'
import { type Broadcast, findBroadcast, lockBroadcast } from '../broadcasts.sql.ts'
import { selectOpenParts } from '../ledger/ledger.sql.ts'
import { forLedger, type LedgerParts } from '../ledger/ledger-slices.ts'
import { createParts } from '../prepare.ts'
import { addReactions, noReactions } from '../results/reactions.ts'
import { markDecided } from '../variants.sql.ts'
import { isTesting } from '../variants.ts'
import { pausedCheckEveryMs } from './finish.ts'

export type DecideParts = LedgerParts & { db: Db }

/**
 * Chooses the winner, unless a user has, and starts sending it to the rest. Returns `late` without changing anything if the
 * step was due too long ago: the rest may have been sent before, if a backup was restored.
 */
export async function decideBroadcast(parts: DecideParts, claim: Claim, id: BroadcastId): Promise<'late' | undefined> {
  const { organizationId } = claim
  const before = await findBroadcast(parts.db, organizationId, id)
  // Counted without a lock: a user can cancel the broadcast or choose the winner in the meantime.
  const needsWinner = before?.status === 'sending' && isTesting(before) && before.winner === null
  const best = needsWinner ? await chooseWinner(parts, before) : null
  if (best === undefined) return endJobs(parts.db, [{ claim, retryInMs: 0 }]).then(() => undefined)
  return parts.work(organizationId, async (tx) => {
    const end = async (retryInMs: number | null) => void (await settleJobs(tx, [{ claim, retryInMs }]))
    const broadcast = await lockBroadcast(tx, organizationId, id)
    if (!broadcast || !isOpen(broadcast) || !isTesting(broadcast)) return end(null)
    // The last part of the sample enqueues the step again.
    if ((await selectOpenParts(tx, organizationId, id)).length > 0) return end(null)
    if (broadcast.status === 'paused') return end(pausedCheckEveryMs)
    if (+broadcast.now - +claim.dueAt! > broadcast.missedAfterSeconds * 1000) return 'late'
    const winner = broadcast.winner ?? best
    // A user chooses, or it was resumed since it was looked at.
    if (winner === null) return end(broadcast.winnerBy === 'manual' ? null : 0)
    await markDecided(tx, broadcast, winner)
    await createParts(tx, broadcast, 'rest')
    return end(null)
  })
}

const isOpen = ({ status }: Broadcast) => status === 'sending' || status === 'paused'

/**
 * Returns the variant with the highest rate of the emails sent, as it is shown; of equal ones, and without any reaction, the
 * first. Null: a user chooses. Undefined: the process is stopping.
 */
async function chooseWinner(parts: DecideParts, broadcast: Broadcast): Promise<number | null | undefined> {
  const { winnerBy } = broadcast
  if (winnerBy === 'manual') return null
  const reactions = noReactions(broadcast)
  const isCounted = await forLedger(parts, broadcast, (tx, range) => addReactions(tx, broadcast, range, reactions))
  if (!isCounted) return undefined
  const rates = reactions.variants.map(({ sent, opened, clicked }) => {
    const people = winnerBy === 'opens' ? opened : clicked
    return sent === 0 ? 0 : people / sent
  })
  return rates.indexOf(Math.max(...rates))
}
