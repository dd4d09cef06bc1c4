import type { Db } from '../../platform/db/db.ts'
import type { Log } from '../../platform/runtime/log.ts'
import {
  findDefaultEpoch,
  findEpoch,
  lockEpoch,
  type StoredEpoch,
  selectServer,
  setDefaultEpoch,
  updateEpoch,
} from './feed-positions.sql.ts'

export { type FeedState, getFeedState } from './feed-positions.sql.ts'

/**
 * Increases the epoch of the feed if the tables are in another server than before, or on another timeline of it: its
 * transaction ids may be lower than those of the recorded events. So positions never decrease, and cursors stay valid
 * after a restore. Must run before this process records events.
 */
export async function checkFeedEpoch(db: Db, log: Log): Promise<void> {
  // Null if the server does not permit it: then the epoch stays the same.
  const server = await selectServer(db).catch(() => null)
  const isCurrent = async (stored: StoredEpoch | undefined) =>
    (server === null || stored?.server === server) && stored?.epoch === (await findDefaultEpoch(db))
  if (await isCurrent(await findEpoch(db))) return
  await db.begin(async (tx) => {
    const stored = await lockEpoch(tx)
    if (!stored || (await isCurrent(stored))) return
    const isOther = server !== null && stored.server !== null && stored.server !== server
    const epoch = stored.epoch + (isOther ? 1 : 0)
    // Only if needed: it waits for all transactions that record events, and for all nodes of a cluster.
    if (epoch !== (await findDefaultEpoch(tx))) await setDefaultEpoch(tx, epoch)
    await updateEpoch(tx, { epoch, server: server ?? stored.server })
    if (isOther) log.info({ epoch }, 'The database is on another server or timeline; the event feed continues')
  })
}
