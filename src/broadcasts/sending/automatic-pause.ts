import type { Db, Tx } from '../../platform/db/db.ts'
import type { Log } from '../../platform/runtime/log.ts'
import { type Broadcast, lockBroadcast } from '../broadcasts.sql.ts'
import { pause } from '../status.ts'

export type PauseReason = { reason: string; detail: string }

export type PauseParts = {
  db: Db
  log: Log
  /** Informs the owners that the broadcast was paused automatically, in a transaction of its own. */
  onPaused: (tx: Tx, broadcast: Broadcast) => Promise<void>
}

export const interrupted: PauseReason = {
  reason: 'interrupted',
  detail:
    'Sending was interrupted for longer than allowed. Check that its content is still current, then resume or cancel it.',
}

/**
 * Pauses a broadcast that is being sent, if `find` returns a reason for it as it is under the lock. The pause depends on nothing that
 * could keep it from being written: the owners are informed after it.
 */
export async function pauseAutomatically(
  parts: PauseParts,
  { organizationId, id }: Pick<Broadcast, 'organizationId' | 'id'>,
  find: (tx: Tx, current: Broadcast) => Promise<PauseReason | undefined>,
): Promise<void> {
  const found = await parts.db.begin(async (tx) => {
    const current = await lockBroadcast(tx, organizationId, id)
    if (current?.status !== 'sending') return undefined
    const reason = await find(tx, current)
    if (!reason) return undefined
    await pause(tx, current, reason)
    return { ...current, ...reason }
  })
  if (!found) return
  const fields = { organization: organizationId, broadcast: id, reason: found.reason }
  parts.log.warn(fields, 'A broadcast was paused')
  await parts.db
    .begin((tx) => parts.onPaused(tx, found))
    .catch((err) => parts.log.error({ ...fields, err }, 'The owners could not be informed that a broadcast was paused'))
}
