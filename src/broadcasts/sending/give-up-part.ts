import type { Claim } from '../../platform/queue/queue.ts'
import { endJobs } from '../../platform/queue/settle-jobs.ts'
import type { BroadcastId } from '../../platform/values/ids.ts'
import { findBroadcast } from '../broadcasts.sql.ts'
import { type PauseParts, pauseAutomatically } from './automatic-pause.ts'

/** What is left to do for a broadcast that has ended is tried again after this time. */
const cleanUpRetryMs = 60 * 60 * 1_000
export const reason = 'failed'

/** Called when a part of a broadcast that is being sent has failed several times in a row: it is paused with a reason. */
export async function giveUpPart(parts: PauseParts, claim: Claim, id: BroadcastId): Promise<void> {
  const key = { organizationId: claim.organizationId, id }
  const status = (await findBroadcast(parts.db, key.organizationId, id))?.status
  const detail = 'Sending failed several times because of an internal error. Resume it to try again, or cancel it.'
  if (status === 'sending') await pauseAutomatically(parts, key, async () => ({ reason, detail }))
  const isPaused = status === 'sending' || status === 'paused'
  await endJobs(parts.db, [{ claim, retryInMs: isPaused ? 0 : cleanUpRetryMs }])
}
