import { setTimeout as sleep } from 'node:timers/promises'
import type { Db, Tx } from '../../platform/db/db.ts'
import { retrying } from '../../platform/db/retrying.ts'
import { deleteJobs, findPostponed, withdrawJobs } from '../../platform/queue/withdraw.ts'
import { conflict, notFound } from '../../platform/values/errors.ts'
import type { MessageId, OrganizationId } from '../../platform/values/ids.ts'
import { mustMark } from '../attempts/begun.ts'
import { type CancellableMessage, lockMessages, markCancelled } from './cancel.sql.ts'
import { laneOf } from './draft.ts'

const tries = 3
/** How long to wait for the outcome of messages that a worker has: most are sent within milliseconds. */
const waitMs = 2_000
const checkEveryMs = 100
/** A job is due when its statement runs, at most this long after its transaction began. */
const dueAfterMs = 30_000

/**
 * cancelled: the message is never sent. sending: a worker may be sending it, or a mail server may have accepted it. final: it
 * has another status. broadcast: only its broadcast can be cancelled.
 */
export type CancelResult = 'cancelled' | 'sending' | 'final' | 'broadcast'

const refusals: Record<Exclude<CancelResult, 'cancelled'>, string> = {
  sending: 'This email can no longer be cancelled: it is being sent or may have been sent.',
  final: 'This email can no longer be cancelled: it is not queued.',
  broadcast: 'This email belongs to a broadcast. Cancel the broadcast instead.',
}

/**
 * Cancels a message that no worker has started to send. Repeating it has no effect.
 *
 * Throws `Refusal` if the message does not exist, is being sent or may have been sent. If it returns, the email is never sent.
 */
export async function cancelMessage(db: Db, organizationId: OrganizationId, id: MessageId): Promise<void> {
  const result = (await cancelMessages(db, organizationId, [id])).get(id)
  if (!result) throw notFound('message')
  if (result !== 'cancelled') throw cannotCancel(result)
}

export const cannotCancel = (result: Exclude<CancelResult, 'cancelled'>) => conflict(refusals[result])

/** Cancels those of the messages that no worker has started to send. Messages that do not exist are missing in the result. */
export async function cancelMessages(
  db: Db,
  organizationId: OrganizationId,
  ids: readonly MessageId[],
): Promise<Map<MessageId, CancelResult>> {
  const deadline = Date.now() + waitMs
  const results = new Map<MessageId, CancelResult>()
  let open = ids
  for (;;) {
    const round = await retrying(tries, () => db.begin((tx) => tryToCancel(tx, organizationId, open)))
    for (const [id, result] of round) results.set(id, result)
    open = open.filter((id) => results.get(id) === 'sending')
    if (open.length === 0 || Date.now() >= deadline) return results
    await sleep(checkEveryMs)
  }
}

async function tryToCancel(
  tx: Tx,
  organizationId: OrganizationId,
  ids: readonly MessageId[],
): Promise<Map<MessageId, CancelResult>> {
  const messages = await lockMessages(tx, organizationId, ids)
  const isOpen = ({ status, isOfBroadcast }: CancellableMessage) => status === 'queued' && !isOfBroadcast
  const cancelled = await withdraw(tx, organizationId, messages.filter(isOpen))
  await markCancelled(tx, organizationId, [...cancelled])
  return new Map(messages.map((message) => [message.id, resultOf(message, cancelled)]))
}

function resultOf({ id, status, isOfBroadcast }: CancellableMessage, cancelled: ReadonlySet<MessageId>): CancelResult {
  if (status === 'cancelled' || cancelled.has(id)) return 'cancelled'
  if (status !== 'queued') return 'final'
  // The ledger of the broadcast waits for the outcome of each of its messages.
  return isOfBroadcast ? 'broadcast' : 'sending'
}

/** Returns those of the locked messages that no worker has started to send or will. */
async function withdraw(
  tx: Tx,
  organizationId: OrganizationId,
  messages: readonly CancellableMessage[],
): Promise<Set<MessageId>> {
  const jobsOf = (some: readonly CancellableMessage[]) => ({
    ...{ organizationId, kind: 'message.send' as const },
    jobs: some.map(({ id }) => ({ lane: laneOf(id), id })),
  })
  const marked = messages.filter(({ begun }) => begun === 'no')
  const unmarked = messages.filter(({ begun }) => begun === 'unmarked')
  const withdrawn = new Set(marked.map(({ id }) => id))
  const scheduled = marked.flatMap((message) => message.sendAt ?? [])
  // The jobs of the others are left to the worker, since their due times are not known here.
  if (scheduled.length > 0) await deleteJobs(tx, jobsOf(marked), rangeOf(scheduled))
  if (unmarked.length === 0) return withdrawn
  const queued = rangeOf(unmarked.map(({ queuedAt }) => queuedAt))
  const due = { from: new Date(+queued.from - 1), to: new Date(+queued.to + dueAfterMs) }
  const free = await withdrawJobs(tx, jobsOf(unmarked), due)
  const beingSent = unmarked.filter(({ id }) => !free.has(id))
  // The first attempt may have ended with a fault, without a reason that is stored with the message.
  const attempts = beingSent.length > 0 ? await findPostponed(tx, jobsOf(beingSent), due.to) : new Map<string, number>()
  for (const { id } of unmarked) if (free.has(id) || mustMark(notWaiting, attempts.get(id) ?? 0)) withdrawn.add(id)
  return withdrawn
}

const notWaiting = { isScheduled: false, hasWaited: false, mailServerId: null }

const rangeOf = (times: readonly Date[]) => ({
  from: new Date(Math.min(...times.map(Number))),
  to: new Date(Math.max(...times.map(Number))),
})
