import type { RelayState } from '@waxwing/smtp-client'
import { findStoredState, type StoredState } from '../../delivery/delivery.ts'
import type { Reader } from '../../platform/db/db.ts'
import type { MessageId, OrganizationId } from '../../platform/values/ids.ts'
import { deferredReason, limitReason, serverDownReason } from '../attempts/outcome.ts'
import type { MessageRow } from './messages.sql.ts'
import { type PendingSend, selectPendingSend, selectPendingSends } from './waiting.sql.ts'

/** Reading four lanes of this many rows takes 4 to 10 ms, also with 400,000 pending emails. */
const jobsPerLaneMax = 2_000

/** Why a queued email has not been sent yet. */
export type Waiting = {
  cause: 'broadcast_paused' | 'mail_server_unreachable' | 'limit' | 'deferred' | 'queued'
  /** The problem or reply of the mail server, if it is known and may be shown, or the limit. */
  detail: string | null
  nextAttemptAt: Date | null
  attempts: number
}

export type WaitingContext = {
  /** The state of the mail servers. Undefined without any. */
  relay: RelayState | StoredState | undefined
  /** Whether the caller may see its details. */
  showsRelay: boolean
}

/** Returns the entries of queued messages; other messages have none. */
export async function findWaiting(
  db: Reader,
  organizationId: OrganizationId,
  messages: MessageRow[],
  context: WaitingContext,
): Promise<Map<MessageId, Waiting>> {
  const queued = messages.filter(({ status }) => status === 'queued')
  const ids = queued.map(({ id }) => id)
  const first = await selectPendingSends(db, organizationId, ids, jobsPerLaneMax)
  const [only] = ids
  // Behind thousands of others, the end of the wait is found for one message, but not for each of a list.
  const isFar = only !== undefined && ids.length === 1 && first.length === 0
  const pending = isFar ? await selectPendingSend(db, organizationId, only) : first
  const jobOf = new Map(pending.map((job) => [job.id, job]))
  const state = queued.length > 0 ? await findStoredState(db, organizationId) : undefined
  const known = state ? { relay: state, showsRelay: true } : context
  return new Map(queued.map((message) => [message.id, waitingOf(message, jobOf.get(message.id), known)]))
}

function waitingOf(
  { reason, relayReply }: Pick<MessageRow, 'reason' | 'relayReply'>,
  job: PendingSend | undefined,
  { relay, showsRelay }: WaitingContext,
): Waiting {
  const attempts = job?.attempt ?? 0
  if (job?.isPaused) return { cause: 'broadcast_paused', detail: null, nextAttemptAt: null, attempts }
  const dueAt = job && job.dueAt.getTime() > Date.now() ? job.dueAt : null
  if (relay?.kind === 'down') {
    const nextAttemptAt = dueAt && dueAt > relay.nextTryAt ? dueAt : relay.nextTryAt
    return { cause: 'mail_server_unreachable', detail: showsRelay ? relay.reason : null, nextAttemptAt, attempts }
  }
  if (reason === serverDownReason)
    return { cause: 'mail_server_unreachable', detail: relayReply, nextAttemptAt: dueAt, attempts }
  if (reason === limitReason) return { cause: 'limit', detail: relayReply, nextAttemptAt: dueAt, attempts }
  if (reason === deferredReason) return { cause: 'deferred', detail: relayReply, nextAttemptAt: dueAt, attempts }
  return { cause: 'queued', detail: reason, nextAttemptAt: dueAt, attempts }
}
