import type { Claim } from '../../platform/queue/queue.ts'
import type { BroadcastId } from '../../platform/values/ids.ts'
import { findBroadcast } from '../broadcasts.sql.ts'
import { abandon, type PrepareParts } from '../prepare.ts'
import type { PauseParts } from './automatic-pause.ts'
import { giveUpPart, reason } from './give-up-part.ts'

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
