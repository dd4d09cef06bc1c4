import type { Tx } from '../../platform/db/db.ts'
import type { MessageId, OrganizationId } from '../../platform/values/ids.ts'
import { type Begun, begun } from '../attempts/begun.ts'

export type CancellableMessage = {
  id: MessageId
  status: string
  queuedAt: Date
  sendAt: Date | null
  begun: Begun
  isOfBroadcast: boolean
}

/** Locks messages until the end of the transaction. Those that do not exist are missing. */
export const lockMessages = (tx: Tx, organizationId: OrganizationId, ids: readonly MessageId[]) =>
  tx<CancellableMessage>`
    select id, status, queued_at, send_at, ${begun} as begun, broadcast_id is not null as is_of_broadcast
    from messages
    where organization_id = ${organizationId} and id = any (${ids}::uuid[])
    order by id
    for no key update`

export const markCancelled = (tx: Tx, organizationId: OrganizationId, ids: readonly MessageId[]) =>
  tx`
    update messages set status = 'cancelled', reason = null
    where organization_id = ${organizationId} and id = any (${ids}::uuid[]) and status = 'queued'`
