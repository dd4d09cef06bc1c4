import { type Sql, sql } from '../../platform/db/sql.ts'
import type { MailServerId } from '../../platform/values/ids.ts'

/**
 * What tells whether a worker may have begun to send a queued message. `hasWaited`: a reason to wait is stored with it.
 * `mailServerId`: the mail server that may have accepted the email already, because the connection broke before its reply.
 */
export type SendingState = {
  isSending: boolean
  isScheduled: boolean
  hasWaited: boolean
  mailServerId: MailServerId | null
}

/**
 * yes: a worker may be handing the email to a mail server, or one may have accepted it. no: none does, and each marks the
 * message before it does so, for which it waits for the lock on the message. unmarked: workers do not mark the message in its
 * first attempt, since this would cost a write for each email, so any worker that has its lane may be sending it.
 */
export type Begun = 'yes' | 'no' | 'unmarked'

/**
 * Whether a worker has begun to send a queued message. `attempt`: that of its job, which counts faults that are not stored with
 * the message. `begun` is the same rule in SQL, for an attempt of 0.
 */
export function hasBegun(state: SendingState, attempt: number): Begun {
  const { isSending, isScheduled, hasWaited, mailServerId } = state
  if (isSending || mailServerId !== null) return 'yes'
  return isScheduled || hasWaited || attempt > 0 ? 'no' : 'unmarked'
}

/** Whether a worker marks a message before it sends it. */
export const mustMark = (state: Omit<SendingState, 'isSending'>, attempt: number): boolean =>
  hasBegun({ ...state, isSending: false }, attempt) === 'no'

/** Of a row of `messages`. */
export const begun: Sql = sql`case
  when sending or mail_server_id is not null then 'yes'
  when send_at is not null or reason is not null then 'no'
  else 'unmarked' end`
