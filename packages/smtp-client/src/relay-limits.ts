import type { OutageLimits } from './outage.ts'

export type RelayLimits = OutageLimits & {
  /**
   * Emails in flight per connection: one awaiting its reply, one pipelined, the rest to allow large batches of records.
   */
  mailsPerSlot: number
  /** After this many emails a connection is closed with QUIT, since many relays limit emails per connection. */
  mailsPerConnection: number
  idleMs: number
  /**
   * A connection whose relay has not replied for this long no longer counts as one of the pool, so that queued emails
   * do not wait until the timeout at the end of an email, which is long to avoid sending it twice.
   */
  stalledMs: number
  /** Short, because callers wait for their emails before closing: emails still in flight then are stuck. */
  closeMs: number
}

export const relayLimits: RelayLimits = {
  mailsPerSlot: 50,
  mailsPerConnection: 1_000,
  idleMs: 30_000,
  stalledMs: 15_000,
  retryDelayMsMin: 1_000,
  retryDelayMsMax: 60_000,
  closeMs: 1_000,
}
