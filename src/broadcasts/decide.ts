import type { Db, Reader, Tx } from '../db/db.ts'
import { type Claim, settleJobs } from '../queue/queue.ts'
import type { BroadcastId } from '../values/ids.ts'
import { enqueueStep } from './actions.ts'
import { type Broadcast, lockBroadcast } from './broadcasts.sql.ts'
import { selectOpenParts } from './ledger.sql.ts'
import { createParts } from './prepare.ts'
import { countVariants, markDecided, markSampleSent } from './variants.sql.ts'
import { isTesting } from './variants.ts'

const decideTimeoutMs = 60_000
/** How often it is checked whether a paused broadcast was resumed. */
const checkEveryMs = 1_000

/** Called when the last part has ended: enqueues the step that chooses the winner, or the one that determines the result. */
export async function afterLastPart(tx: Tx, broadcast: Broadcast): Promise<void> {
  if (!isTesting(broadcast)) return enqueueStep(tx, broadcast, 'finish', 0)
  if (broadcast.winner !== null) return enqueueStep(tx, broadcast, 'decide', 0)
  // Chosen by a user, who enqueues the step.
  if (broadcast.winnerBy === 'manual') return
  await markSampleSent(tx, broadcast)
  enqueueStep(tx, broadcast, 'decide', broadcast.decideAfterSeconds * 1000)
}

/**
 * Chooses the winner, unless a user has, and starts sending it to the rest, in one transaction. Returns `late` without
 * changing anything if the step was due too long ago: the rest may have been sent before, if a backup was restored.
 */
export async function decideBroadcast(db: Db, claim: Claim, id: BroadcastId): Promise<'late' | undefined> {
  const { organizationId } = claim
  return db.begin(
    async (tx) => {
      const end = async (retryInMs: number | null) => void (await settleJobs(tx, [{ claim, retryInMs }]))
      const broadcast = await lockBroadcast(tx, organizationId, id)
      const isOpen = broadcast?.status === 'sending' || broadcast?.status === 'paused'
      if (!broadcast || !isOpen || !isTesting(broadcast)) return end(null)
      // The last part of the sample enqueues the step again.
      if ((await selectOpenParts(tx, organizationId, id)).length > 0) return end(null)
      if (broadcast.status === 'paused') return end(checkEveryMs)
      if (+broadcast.now - +claim.dueAt! > broadcast.missedAfterSeconds * 1000) return 'late'
      const winner = broadcast.winner ?? (await chooseWinner(tx, broadcast))
      if (winner === null) return end(null)
      await markDecided(tx, broadcast, winner)
      await createParts(tx, broadcast, 'rest')
      return end(null)
    },
    { statementTimeoutMs: decideTimeoutMs },
  )
}

/** Returns the variant with the highest rate; of equal ones, and without any reaction, the first. Null: a user chooses. */
async function chooseWinner(db: Reader, broadcast: Broadcast): Promise<number | null> {
  const { winnerBy } = broadcast
  if (winnerBy === 'manual') return null
  const results = await countVariants(db, broadcast)
  const rates = results.map(({ recipients, opened, clicked }) => {
    const reactions = winnerBy === 'opens' ? opened : clicked
    return recipients === 0 ? 0 : reactions / recipients
  })
  return rates.indexOf(Math.max(...rates))
}
