import { lockContacts } from '../../audience/audience.ts'
import { type Recorded, recordEvents } from '../../events/events.ts'
import type { Tx } from '../../platform/db/db.ts'
import { enqueue } from '../../platform/queue/queue.ts'
import { groupBy } from '../../platform/values/group-by.ts'
import { type BroadcastMessage, insertBroadcastMessages, insertIntoInbox, type SendRow } from '../../sending/sending.ts'
import type { RecipientStatus } from '../broadcasts.sql.ts'
import { retryLane } from './lanes.ts'
import { addToCounts, type RecipientResult, type RetryResult, updatePending, updateQueued } from './settle.sql.ts'

export type { RecipientResult, RetryResult } from './settle.sql.ts'

const notSubscribed = ['unsubscribed', 'not_subscribed']

/** Recipients that unsubscribed after the start are counted separately. */
export const statusOf = <Status extends RecipientStatus>(status: Status, reason: string | null) =>
  status === 'suppressed' && reason !== null && notSubscribed.includes(reason) ? ('unsubscribed' as const) : status

/**
 * Records the results of recipients that are pending: the ledger, the messages, their events, and a job for each email that
 * the relay deferred. If two workers sent the same email, because one lost its lease, the first to record it wins. Returns
 * the recorded events.
 */
export async function settleRecipients(tx: Tx, results: readonly RecipientResult[]): Promise<Recorded> {
  const settled: RecipientResult[] = []
  const messages: BroadcastMessage[] = []
  const knownMessages: SendRow[] = []
  for (const [, sameBroadcast] of groupBy(results, ({ broadcastId }) => broadcastId)) {
    // Before the rows are written: from now until the commit, none of these contacts can be erased.
    const existing = await lockContacts(
      tx,
      sameBroadcast[0]!.organizationId,
      sameBroadcast.map(({ contactId }) => contactId),
    )
    const updated = await updatePending(tx, sameBroadcast)
    const written: BroadcastMessage[] = []
    for (const given of sameBroadcast) {
      if (!updated.has(given.contactId)) continue
      const contactExists = existing.has(given.contactId)
      const result = contactExists ? given : withoutPersonalData(given)
      settled.push(result)
      if (!result.message) continue
      written.push(result.message)
      if (contactExists) knownMessages.push(result.message.row)
    }
    insertBroadcastMessages(tx, written)
    messages.push(...written)
  }
  const inbox = messages.flatMap(({ outcome }) => outcome.inbox ?? [])
  if (inbox.length > 0) await insertIntoInbox(tx, inbox)
  enqueue(
    tx,
    messages
      .filter(({ outcome }) => outcome.status === 'queued')
      .map(({ row: { organizationId, id, broadcastId }, outcome: { retryInMs } }) => {
        const lane = retryLane(broadcastId!)
        return { organizationId, kind: 'message.send', lane, id, delayMs: retryInMs ?? 0 }
      }),
  )
  const recorded = await recordEvents(
    tx,
    messages.flatMap(({ outcome }) => outcome.event ?? []),
    { messagesAreUpdated: true, knownMessages },
  )
  addToCounts(tx, 'pending', settled)
  return recorded
}

/** The contact was erased while the email was being sent: its message stays countable, as those before. */
function withoutPersonalData({ message, ...rest }: RecipientResult): RecipientResult {
  if (!message) return { message, ...rest }
  const outcome = { ...message.outcome, relayReply: null, queueId: null, inbox: null }
  const status = outcome.status === 'queued' ? ('suppressed' as const) : outcome.status
  return {
    ...rest,
    status,
    message: {
      row: { ...message.row, email: '', subject: '' },
      outcome: { ...outcome, status, retryInMs: null },
      context: null,
      recipient: null,
    },
  }
}

/** Records the outcomes of deferred emails in the ledger. Called in the transaction that settles their jobs. */
export async function settleRetries(tx: Tx, results: readonly RetryResult[]): Promise<void> {
  const settled: RetryResult[] = []
  for (const [, sameBroadcast] of groupBy(results, ({ broadcastId }) => broadcastId)) {
    const updated = await updateQueued(tx, sameBroadcast)
    settled.push(...sameBroadcast.filter(({ messageId }) => updated.has(messageId)))
  }
  addToCounts(tx, 'queued', settled)
}
