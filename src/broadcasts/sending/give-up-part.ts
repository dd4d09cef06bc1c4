import type { Claim } from '../../platform/queue/queue.ts'
import { endJobs } from '../../platform/queue/settle-jobs.ts'
import { Unrecorded } from '../../platform/queue/unrecorded.ts'
import type { BroadcastId } from '../../platform/values/ids.ts'
import { findBroadcast } from '../broadcasts.sql.ts'
import { type PauseParts, pauseAutomatically } from './automatic-pause.ts'

/** What is left to do for a broadcast that has ended is tried again after this time. */
const cleanUpRetryMs = 60 * 60 * 1_000
export const reason = 'failed'

const unrecordedDetail =
  'The results of some emails could not be recorded because of an internal error, so no further email is sent. These people may get a second email if you resume it.'
const failedDetail = 'Sending failed several times because of an internal error. Resume it to try again, or cancel it.'

/** Called when a part of a broadcast that is being sent must not run again: the broadcast is paused with a reason. */
export async function giveUpPart(parts: PauseParts, claim: Claim, id: BroadcastId, error?: unknown): Promise<void> {
  const key = { organizationId: claim.organizationId, id }
  const status = (await findBroadcast(parts.db, key.organizationId, id))?.status
  const detail = error instanceof Unrecorded ? unrecordedDetail : failedDetail
  if (status === 'sending') await pauseAutomatically(parts, key, async () => ({ reason, detail }))
  const isPaused = status === 'sending' || status === 'paused'
  await endJobs(parts.db, [{ claim, retryInMs: isPaused ? 0 : cleanUpRetryMs }])
}
