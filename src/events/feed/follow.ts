import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import { type FeedPage, readFeed } from './feed.ts'
import type { WaitingReaders } from './waiting-readers.ts'

/** Events that are read at once for a stream. */
const streamPageMax = 500
/** A stream ends after its next page. */
const streamMs = 240_000

export type FeedParts = { read: BoundedRead; waiting: WaitingReaders }

export type FeedRequest = {
  organizationId: OrganizationId
  after: string | undefined
  limit: number
  waitMs: number
  /** Aborted if the client disconnects. */
  signal: AbortSignal
}

/** Returns a page. If it would be empty, waits up to `waitMs` for the next event. */
export async function readOrWait({ read, waiting }: FeedParts, request: FeedRequest): Promise<FeedPage> {
  const { organizationId, limit, signal } = request
  const until = performance.now() + request.waitMs
  const readAfter = (after: string | undefined) =>
    read(organizationId, (db) => readFeed(db, organizationId, { after, limit }))
  let page = await readAfter(request.after)
  for (;;) {
    const waitMs = until - performance.now()
    if (page.events.length > 0 || waitMs <= 0) return page
    if (!(await waiting.wait(organizationId, page.next, waitMs, signal))) return page
    page = await readAfter(page.cursor)
  }
}

/**
 * Yields events as lines of JSON, up to `limit`. Ends when there are no more and `waitMs` have passed, or after four
 * minutes. While the client does not read, nothing is read from the database.
 */
export async function* streamFeed(parts: FeedParts, request: FeedRequest, first: FeedPage): AsyncGenerator<string> {
  const started = performance.now()
  let left = request.limit
  for (let page = first; ; ) {
    if (page.events.length > 0) yield page.events.map((event) => `${JSON.stringify(event)}\n`).join('')
    left -= page.events.length
    const elapsedMs = performance.now() - started
    const waitMs = Math.max(0, request.waitMs - elapsedMs)
    const isEnd = page.isEnd && waitMs === 0
    if (left <= 0 || isEnd || elapsedMs > streamMs || request.signal.aborted) return
    const limit = streamPageLimit(left)
    page = await readOrWait(parts, { ...request, after: page.cursor, limit, waitMs })
    if (page.events.length === 0) return
  }
}

export const streamPageLimit = (left: number): number => Math.min(left, streamPageMax)
