import type { Tx } from '../../platform/db/db.ts'
import type { Broadcast } from '../broadcasts.sql.ts'
import { enqueueStep } from '../status.ts'
import { markSampleSent } from '../variants.sql.ts'
import { isTesting } from '../variants.ts'

/** Called when the last part has ended: enqueues the step that chooses the winner, or the one that determines the result. */
export async function afterLastPart(tx: Tx, broadcast: Broadcast): Promise<void> {
  if (!isTesting(broadcast)) return enqueueStep(tx, broadcast, 'finish', 0)
  if (broadcast.winner !== null) return enqueueStep(tx, broadcast, 'decide', 0)
  // Chosen by a user, who enqueues the step.
  if (broadcast.winnerBy === 'manual') return
  await markSampleSent(tx, broadcast)
  enqueueStep(tx, broadcast, 'decide', broadcast.decideAfterSeconds * 1000)
}
