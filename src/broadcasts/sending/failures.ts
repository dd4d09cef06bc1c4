import type { Claim } from '../../platform/queue/queue.ts'
import { endJobs } from '../../platform/queue/settle-jobs.ts'
import type { BroadcastId } from '../../platform/values/ids.ts'
import { findBroadcast } from '../broadcasts.sql.ts'
import { abandon, type PrepareParts } from '../prepare.ts'
import { type PauseParts, pauseAutomatically } from './automatic-pause.ts'

/** What is left to do for a broadcast that has ended is tried again after this time. */
const cleanUpRetryMs = 60 * 60 * 1_000
const reason = 'failed'

/**
 * Called when a step of a broadcast has failed several times in a row. The broadcast ends or is paused with a reason, instead
 * of being tried again and again: emails could be sent twice each time.
 */
export async function giveUpStep(parts: PrepareParts & PauseParts, claim: Claim, id: BroadcastId): Promise<void> {
  const broadcast = await findBroadcast(parts.db, claim.organizationId, id)
  if (broadcast?.status === 'scheduled' || broadcast?.status === 'preparing')
    return abandon(parts, claim, broadcast, reason)
  await giveUpPart(parts, claim, id)
}

/** Like `giveUpStep`, for a part of a broadcast that is being sent. */
export async function giveUpPart(parts: PauseParts, claim: Claim, id: BroadcastId): Promise<void> {
  const key = { organizationId: claim.organizationId, id }
  const status = (await findBroadcast(parts.db, key.organizationId, id))?.status
  const detail = 'Sending failed several times because of an internal error. Resume it to try again, or cancel it.'
  if (status === 'sending') await pauseAutomatically(parts, key, async () => ({ reason, detail }))
  const isPaused = status === 'sending' || status === 'paused'
  await endJobs(parts.db, [{ claim, retryInMs: isPaused ? 0 : cleanUpRetryMs }])
}
