import { setTimeout as sleep } from 'node:timers/promises'
import type { Db, Tx } from '../db/db.ts'
import { retrying } from '../db/retrying.ts'
import { deleteJob, isPostponed, withdrawJob } from '../queue/withdraw.ts'
import { notFound, Refusal } from '../values/errors.ts'
import type { MessageId, OrganizationId } from '../values/ids.ts'
import { type CancellableMessage, lockMessage, markCancelled } from './cancel.sql.ts'
import { laneOf } from './draft.ts'

const tries = 3
/** How long to wait for the outcome of a message that a worker has: most are sent within milliseconds. */
const waitMs = 2_000
const checkEveryMs = 100
/** A job is due when its statement runs, which is this much after the begin of its transaction at most. */
const dueAfterMs = 30_000

/**
 * Cancels a message that no worker has started to send. Repeating it has no effect.
 *
 * Throws `Refusal` if the message does not exist, was sent or is being sent. If it returns, the email is never sent.
 */
export async function cancelMessage(db: Db, organizationId: OrganizationId, id: MessageId): Promise<void> {
  const deadline = Date.now() + waitMs
  for (;;) {
    const outcome = await retrying(tries, () => db.begin((tx) => tryToCancel(tx, organizationId, id)))
    if (outcome === 'cancelled') return
    if (outcome === 'final') throw new Refusal('conflict', 'This email can no longer be cancelled: it is not queued.')
    if (Date.now() >= deadline)
      throw new Refusal('conflict', 'This email can no longer be cancelled: it is being sent.')
    await sleep(checkEveryMs)
  }
}

async function tryToCancel(
  tx: Tx,
  organizationId: OrganizationId,
  id: MessageId,
): Promise<'cancelled' | 'final' | 'sending'> {
  const message = await lockMessage(tx, organizationId, id)
  if (!message) throw notFound('message')
  if (message.status === 'cancelled') return 'cancelled'
  if (message.status !== 'queued') return 'final'
  // The ledger of the broadcast waits for the outcome of each of its messages.
  if (message.isOfBroadcast)
    throw new Refusal('conflict', 'This email belongs to a broadcast. Cancel the broadcast instead.')
  if (!(await withdraw(tx, organizationId, id, message))) return 'sending'
  await markCancelled(tx, organizationId, id)
  return 'cancelled'
}

/** Returns whether no worker has started to send the message or will. */
async function withdraw(
  tx: Tx,
  organizationId: OrganizationId,
  id: MessageId,
  { sendAt, sending, isDeferred, queuedAt }: CancellableMessage,
): Promise<boolean> {
  if (sending) return false
  const job = { organizationId, kind: 'message.send' as const, lane: laneOf(id), id }
  // A worker marks these messages before it sends them, and waits for the lock on the message to do so.
  if (sendAt || isDeferred) {
    // The job of a deferred email is left to the worker, since its due time is not known here.
    if (sendAt) await deleteJob(tx, job, { from: sendAt, to: sendAt })
    return true
  }
  // Other messages are not marked in their first attempt. They can be withdrawn while no worker has their lane.
  const dueTo = new Date(queuedAt.getTime() + dueAfterMs)
  if (await withdrawJob(tx, job, { from: new Date(queuedAt.getTime() - 1), to: dueTo })) return true
  // The first attempt may have ended with a fault, without a reason that is stored with the message.
  return isPostponed(tx, job, dueTo)
}
