import type { Reader } from '../../platform/db/db.ts'
import { leastId } from '../../platform/values/ids.ts'
import type { Broadcast } from '../broadcasts.sql.ts'
import { countRecentReactions, findWatchedSince } from '../ledger/parts.sql.ts'

/** The last emails of a broadcast that the brake looks at. */
const recentMax = 1_000
/** The rates above which mailbox providers block a sender. */
const complaintRateMax = 0.003
const hardBounceRateMax = 0.05

/** Returns why a broadcast must be paused, or undefined. Emails from before it was resumed do not count. */
export async function findBrakeReason(
  db: Reader,
  broadcast: Broadcast,
): Promise<{ reason: string; detail: string } | undefined> {
  const { organizationId, id } = broadcast
  const since = await findWatchedSince(db, organizationId, id)
  if (!since) return undefined
  const recent = await countRecentReactions(db, broadcast, leastId('msg', since.getTime()), recentMax)
  const numbers = (count: number) =>
    `${count.toLocaleString('en')} of the last ${recent.messages.toLocaleString('en')} emails`
  if (recent.complaints > complaintRateMax * recentMax)
    return {
      reason: 'complaints',
      detail: `${numbers(recent.complaints)} were reported as spam. Mailbox providers block senders above 0.3%.`,
    }
  if (recent.hardBounces > hardBounceRateMax * recentMax)
    return {
      reason: 'bounces',
      detail: `${numbers(recent.hardBounces)} were sent to addresses that do not exist. Mailbox providers block senders above 5%.`,
    }
  return undefined
}
