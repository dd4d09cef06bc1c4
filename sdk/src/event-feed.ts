import { WaxwingError } from './errors.ts'
import type { WebhookEvent } from './events.ts'
import { pause } from './pause.ts'

/** An event as webhooks receive it, with its id, and a cursor that continues after it. */
export type FeedEvent = WebhookEvent & { id: string; cursor: string }

export type FeedPage = {
  events: FeedEvent[]
  /** Pass it as `after` to continue. It changes even if there are no events. */
  cursor: string
}

export type FeedQuery = {
  /**
   * The cursor of an earlier page or event. Omit it to begin with the oldest event that is kept; `latest` begins with the
   * next one.
   */
  after?: string | undefined
  /** The number of events, from 1 to 1,000. Default 100. */
  limit?: number
  /** Seconds to wait for an event if there are none, up to 30. Default 0. */
  wait?: number
  /** Cancels the call, including its retries. */
  signal?: AbortSignal | undefined
}

export type FollowOptions = Pick<FeedQuery, 'after' | 'signal'> & {
  /** Called before each retry after a network error, or while the server is unavailable. */
  onRetry?: (error: WaxwingError, waitMs: number) => void
  /** Called with the cursor of each page, also of empty ones, after its events were processed. */
  onPage?: (cursor: string) => void
}

type Read = (query: string, options: { waitMs: number; signal?: AbortSignal | undefined }) => Promise<FeedPage>

const followLimit = 500
const followWaitSeconds = 25
const retryMsMin = 500
const retryMsMax = 30_000

/** The event feed: all events of the organization, in the order in which they were recorded. */
export class EventFeed {
  readonly #read: Read

  constructor(read: Read) {
    this.#read = read
  }

  /** Returns the next events. */
  async list({ after, limit, wait, signal }: FeedQuery = {}): Promise<FeedPage> {
    const query = new URLSearchParams()
    if (after !== undefined) query.set('after', after)
    if (limit !== undefined) query.set('limit', String(limit))
    if (wait !== undefined) query.set('wait', String(wait))
    return this.#read(query.size === 0 ? '' : `?${query}`, { waitMs: (wait ?? 0) * 1_000, signal })
  }

  /**
   * Yields every event after the cursor, and then new ones as they are recorded. Store the `cursor` of an event with what
   * you did for it, and pass it as `after` to continue. Retries after network errors and while the server is unavailable,
   * with growing pauses of up to 30 seconds. Throws `WaxwingError` if the request is rejected (for example 401, or
   * `cursor_expired`), and the reason of the signal when it is aborted.
   */
  async *follow({ after, signal, onRetry, onPage }: FollowOptions = {}): AsyncGenerator<FeedEvent, never> {
    let cursor = after
    let failures = 0
    for (;;) {
      let page: FeedPage
      try {
        page = await this.list({ after: cursor, limit: followLimit, wait: followWaitSeconds, signal })
        failures = 0
      } catch (error) {
        if (!(error instanceof WaxwingError) || !isPassing(error)) throw error
        const backoffMs = Math.min(retryMsMin * 2 ** failures++, retryMsMax)
        const waitMs = Math.max(backoffMs * (0.5 + Math.random() / 2), (error.retryAfterSeconds ?? 0) * 1_000)
        onRetry?.(error, waitMs)
        await pause(waitMs, signal)
        continue
      }
      yield* page.events
      cursor = page.cursor
      onPage?.(cursor)
    }
  }
}

const isPassing = ({ status, type }: WaxwingError) =>
  type === 'network' || type === 'timeout' || status === 429 || (status !== undefined && status >= 500)
