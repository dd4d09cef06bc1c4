import type { ContactStanding } from '../../audience/audience.ts'
import type { ContactId } from '../../platform/values/ids.ts'
import type { PendingRecipient } from './parts.sql.ts'

/** A recipient whose row was read longer ago is read again before the email leaves. */
const recentMs = 1_500
/** Emails that leave after this time start that, so that few have to wait for it. */
const refreshAfterMs = 1_250

/** A recipient of a chunk. `hasLeft`: its email has, or it gets none. */
export type ChunkRecipient = PendingRecipient & { hasLeft?: true }

/** Recipients that were read at the same time, on the clock of the process. */
export type ReadRecipients = { recipients: readonly ChunkRecipient[]; readAt: number }

type Find = (ids: readonly ContactId[]) => Promise<readonly ContactStanding[]>

/**
 * Recipients of a turn whose emails have not left. They stay in the lists of their chunks: a map in which they come and go would
 * keep them alive in its old copies. Contacts may unsubscribe, be suppressed or erased while they wait for a
 * connection, so their rows are read again, all of them in one query and at most about once a second. A broadcast whose emails
 * leave sooner never reads them again.
 */
export class WaitingRecipients {
  readonly #find: Find
  readonly #chunks: () => readonly ReadRecipients[]
  /** How long the last query took: otherwise a slow database would stop the broadcast. */
  #queryMs = 0
  #reading: Promise<void> | undefined

  /** `chunks`: those that are open. Their time is changed when they are read again. */
  constructor(find: Find, chunks: () => readonly ReadRecipients[]) {
    this.#find = find
    this.#chunks = chunks
  }

  /** Whether the recipients of a chunk are known well enough. */
  areRecent({ readAt }: Pick<ReadRecipients, 'readAt'>): boolean {
    const ageMs = performance.now() - readAt
    if (ageMs > refreshAfterMs) this.refresh().catch(() => {})
    return ageMs <= recentMs + this.#queryMs
  }

  /** Updates the waiting recipients. Concurrent calls share a query. */
  refresh(): Promise<void> {
    this.#reading ??= this.#refresh().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #refresh(): Promise<void> {
    const startedAt = performance.now()
    const chunks = [...this.#chunks()]
    const recipients = chunks.flatMap((chunk) => chunk.recipients.filter(({ hasLeft }) => !hasLeft))
    const rows = await this.#find(recipients.map(({ contactId }) => contactId))
    const standings = new Map(rows.map((row) => [row.id, row]))
    for (const recipient of recipients) {
      const standing = standings.get(recipient.contactId)
      if (!standing) recipient.email = null
      recipient.subscription = standing?.subscription ?? null
      recipient.suppressedBy = standing?.suppressedBy ?? null
    }
    // Not those that were opened since: their rows may have been read before.
    for (const chunk of chunks) chunk.readAt = startedAt
    this.#queryMs = performance.now() - startedAt
  }
}
