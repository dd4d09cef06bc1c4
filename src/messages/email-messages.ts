import type { Db, Reader } from '../db/db.ts'
import { enqueue } from '../queue/queue.ts'
import { deleteJob } from '../queue/withdraw.ts'
import { conflict, notFound } from '../values/errors.ts'
import type { EmailId, OrganizationId } from '../values/ids.ts'
import { cancelMessage } from './cancel.ts'
import { laneOf } from './draft.ts'
import { type EmailMessageRow, lockScheduled, selectMessagesOf, updateSendAt } from './email-messages.sql.ts'

export type { EmailMessageRow } from './email-messages.sql.ts'

/** Shortly before it is due, a worker may have read a message. */
const rescheduleMarginMs = 5_000

/** Throws `Refusal` if the email does not exist, or all of its contacts were erased. */
export async function getMessagesOf(
  db: Reader,
  organizationId: OrganizationId,
  id: EmailId,
): Promise<[EmailMessageRow, ...EmailMessageRow[]]> {
  const [first, ...others] = await selectMessagesOf(db, organizationId, id)
  if (!first) throw notFound('email')
  return [first, ...others]
}

/**
 * Cancels all messages of an email that are not sent yet. Throws `Refusal` if none can be cancelled. Repeating it has no
 * effect.
 */
export async function cancelEmail(db: Db, organizationId: OrganizationId, id: EmailId): Promise<void> {
  const messages = await getMessagesOf(db, organizationId, id)
  const queued = messages.filter(({ status }) => status === 'queued')
  if (queued.length === 0 && !messages.some(({ status }) => status === 'cancelled'))
    throw conflict('This email can no longer be cancelled: it is not queued.')
  for (const message of queued) await cancelMessage(db, organizationId, message.id)
}

/** Changes the time of a scheduled email. Throws `Refusal` if one of its messages is not scheduled any more. */
export async function rescheduleEmail(
  db: Db,
  organizationId: OrganizationId,
  id: EmailId,
  sendAt: Date,
): Promise<void> {
  await getMessagesOf(db, organizationId, id)
  await db.begin(async (tx) => {
    const messages = await lockScheduled(tx, organizationId, id, rescheduleMarginMs)
    if (messages.length === 0 || messages.some(({ isWaiting }) => !isWaiting))
      throw conflict('This email cannot be rescheduled: it is not scheduled, or due within a few seconds.')
    for (const { id: messageId, sendAt: dueAt } of messages) {
      const job = { organizationId, kind: 'message.send' as const, lane: laneOf(messageId), id: messageId }
      await deleteJob(tx, job, { from: dueAt!, to: dueAt! })
    }
    const ids = messages.map((message) => message.id)
    await updateSendAt(tx, organizationId, ids, sendAt)
    enqueue(
      tx,
      ids.map((messageId) => ({
        organizationId,
        kind: 'message.send' as const,
        lane: laneOf(messageId),
        id: messageId,
        dueAt: sendAt,
      })),
    )
  })
}
