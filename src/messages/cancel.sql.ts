import type { Tx } from '../db/db.ts'
import { first } from '../db/rows.ts'
import type { MessageId, OrganizationId } from '../values/ids.ts'

export type CancellableMessage = {
  status: string
  queuedAt: Date
  sendAt: Date | null
  /** A worker has taken over a message that was scheduled or deferred. */
  sending: boolean
  /** The mail server deferred the email, or rendering it was interrupted. */
  isDeferred: boolean
  isOfBroadcast: boolean
}

/** Locks the message until the end of the transaction. Returns undefined if it does not exist. */
export const lockMessage = (tx: Tx, organizationId: OrganizationId, id: MessageId) =>
  first(tx<CancellableMessage>`
    select status, queued_at, send_at, sending, reason is not null as is_deferred,
      broadcast_id is not null as is_of_broadcast
    from messages
    where organization_id = ${organizationId} and id = ${id}
    for no key update`)

export const markCancelled = (tx: Tx, organizationId: OrganizationId, id: MessageId) =>
  tx`
    update messages set status = 'cancelled', reason = null
    where organization_id = ${organizationId} and id = ${id} and status = 'queued'`
