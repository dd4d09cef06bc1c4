import type { Db, Reader, Tx } from '../../platform/db/db.ts'
import { retrying } from '../../platform/db/retrying.ts'
import { enqueue } from '../../platform/queue/queue.ts'
import { deleteJobs } from '../../platform/queue/withdraw.ts'
import { conflict, notFound } from '../../platform/values/errors.ts'
import type { EmailId, OrganizationId } from '../../platform/values/ids.ts'
import { cancelMessages, cannotCancel } from '../acceptance/cancel.ts'
import { laneOf } from '../acceptance/draft.ts'
import { keepContentAfter } from '../attachments/contents.ts'
import { type EmailMessageRow, lockScheduled, selectMessagesOf, updateSendAt } from './email-messages.sql.ts'

export type { EmailMessageRow } from './email-messages.sql.ts'

/** In the order of the recipients. */
export type EmailMessages = [EmailMessageRow, ...EmailMessageRow[]]

/** Shortly before it is due, a worker may have read a message. */
const rescheduleMarginMs = 5_000
/** A worker may lock the same lanes in another order. */
const tries = 3

/** Throws `Refusal` if the email does not exist, or all of its contacts were erased. */
export async function getMessagesOf(db: Reader, organizationId: OrganizationId, id: EmailId): Promise<EmailMessages> {
  const [first, ...others] = await selectMessagesOf(db, organizationId, id)
  if (!first) throw notFound('email')
  return [first, ...others]
}

/**
 * Cancels the messages of an email that no worker has started to send, and returns all of them as they are then. Throws
 * `Refusal` if none could be cancelled. Repeating it has no effect.
 */
export async function cancelEmail(db: Db, organizationId: OrganizationId, id: EmailId): Promise<EmailMessages> {
  const messages = await getMessagesOf(db, organizationId, id)
  const results = await cancelMessages(
    db,
    organizationId,
    messages.map((message) => message.id),
  )
  const found = [...results.values()]
  if (!found.includes('cancelled')) throw cannotCancel(found.includes('sending') ? 'sending' : 'final')
  return getMessagesOf(db, organizationId, id)
}

/**
 * Changes the time of a scheduled email, and returns its messages. Throws `Refusal` if one of them is not scheduled any more.
 * Recipients that were suppressed when it was accepted are left out.
 */
export async function rescheduleEmail(
  db: Db,
  organizationId: OrganizationId,
  id: EmailId,
  sendAt: Date,
): Promise<EmailMessages> {
  await getMessagesOf(db, organizationId, id)
  const move = async (tx: Tx) => {
    const messages = await lockScheduled(tx, organizationId, id, rescheduleMarginMs)
    if (messages.length === 0 || messages.some(({ isWaiting }) => !isWaiting))
      throw conflict('This email cannot be rescheduled: it is not scheduled, or due within a few seconds.')
    const jobs = messages.map((message) => ({ lane: laneOf(message.id), id: message.id }))
    const times = messages.map((message) => Number(message.sendAt))
    const due = { from: new Date(Math.min(...times)), to: new Date(Math.max(...times)) }
    await deleteJobs(tx, { organizationId, kind: 'message.send', jobs }, due)
    await updateSendAt(
      tx,
      organizationId,
      messages.map((message) => message.id),
      sendAt,
    )
    await keepContentAfter(tx, organizationId, id, sendAt)
    enqueue(
      tx,
      jobs.map((job) => ({ organizationId, kind: 'message.send' as const, ...job, dueAt: sendAt })),
    )
  }
  await retrying(tries, () => db.begin(move))
  return getMessagesOf(db, organizationId, id)
}
