import { announce } from '../events/events.ts'
import type { Tx } from '../platform/db/db.ts'
import type { BroadcastEventName } from '../platform/values/event-types.ts'
import { toText } from '../platform/values/ids.ts'
import { type Broadcast, findBroadcast } from './broadcasts.sql.ts'
import { countsOut } from './counts.ts'

/** Informs webhooks of a change of the broadcast, as it is after this transaction. */
export async function announceBroadcast(
  tx: Tx,
  { organizationId, id }: Pick<Broadcast, 'organizationId' | 'id'>,
  eventName: BroadcastEventName,
): Promise<void> {
  const broadcast = await findBroadcast(tx, organizationId, id)
  if (!broadcast) return
  const { name, status, flowId } = broadcast
  const data = { id: toText('brc', id), name, status, counts: countsOut(broadcast) }
  await announce(tx, { organizationId, eventName, flowId, data })
}
