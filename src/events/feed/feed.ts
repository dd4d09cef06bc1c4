import type { Reader } from '../../platform/db/db.ts'
import { dayMs } from '../../platform/values/durations.ts'
import { invalid, Refusal } from '../../platform/values/errors.ts'
import { leastId, type OrganizationId, timeOfId, toText } from '../../platform/values/ids.ts'
import { type FeedState, getFeedState } from '../recording/feed-positions.ts'
import { webhookPayload } from '../webhooks/envelope.ts'
import { type Place, parseCursor, placeBefore, startOfFeed, toCursor } from './cursor.ts'
import { type FeedRow, preferIndexOrder, selectEarlyEvents, selectEvents } from './feed.sql.ts'

/** The value of `after` for events from now on. */
export const latest = 'latest'

/** Ids contain a time, which can be ahead of that of the database. */
const clockDifferenceMsMax = dayMs

export type FeedEvent = { id: string; cursor: string } & ReturnType<typeof webhookPayload>

export type FeedPage = {
  events: FeedEvent[]
  /** Continues after the last event, or after everything that was complete if there are no more. */
  cursor: string
  next: Place
  /** True if there were no more events. */
  isEnd: boolean
}

/**
 * Returns the events after a cursor, in the order of their transactions. Events are returned once no transaction that
 * began to write earlier is running, so none can appear before them later: a reader who continues with the cursor gets
 * every event exactly once. Throws `Refusal` if the cursor is invalid or ahead of the feed, or events after it were removed by the retention
 * period. Must run in a transaction.
 */
export async function readFeed(
  db: Reader,
  organizationId: OrganizationId,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<FeedPage> {
  const [state] = await Promise.all([getFeedState(db), preferIndexOrder(db)])
  const horizon = BigInt(state.horizon)
  const from = placeOf(after, state)
  const rows = await selectRows(db, organizationId, { after: from, state, limit })
  const isEnd = rows.length < limit
  const end = placeBefore(horizon)
  const last = rows.at(-1)
  const next = !isEnd && last ? placeOfRow(last) : from.position > end.position ? from : end
  return {
    events: rows.map((row) => toFeedEvent(organizationId, row, state.feedId)),
    cursor: toCursor(state.feedId, next),
    next,
    isEnd,
  }
}

function placeOf(after: string | undefined, state: FeedState): Place {
  if (after === undefined) return startOfFeed
  if (after === latest) return placeBefore(BigInt(state.horizon))
  const place = parseCursor(state.feedId, after)
  if (!place) throw invalidCursor()
  if (place.position >= BigInt(state.next)) throw invalidCursor()
  if (isExpired(place, state))
    throw new Refusal(
      'cursor_expired',
      'Events after this cursor were removed by the retention period. Omit after to continue with the oldest event that is kept.',
    )
  return place
}

const invalidCursor = () => invalid({ path: 'after', problem: 'must be the cursor of an earlier response, or latest' })

function isExpired({ position, id }: Place, { droppedThrough, keptSince }: FeedState): boolean {
  if (position > 0n) return position < BigInt(droppedThrough)
  return keptSince !== null && timeOfId(id) < keptSince.getTime()
}

type Selection = { after: Place; state: FeedState; limit: number }

async function selectRows(db: Reader, organizationId: OrganizationId, { after, state, limit }: Selection) {
  const untilId = leastId('evt', state.createdAt.getTime() + clockDifferenceMsMax)
  const early =
    after.position === 0n ? await selectEarlyEvents(db, organizationId, { afterId: after.id, untilId, limit }) : []
  if (early.length === limit) return early
  const horizon = BigInt(state.horizon)
  return [...early, ...(await selectEvents(db, organizationId, { after, horizon, limit: limit - early.length }))]
}

const placeOfRow = ({ position, occurredAt, id }: FeedRow): Place => ({
  position: BigInt(position),
  // Early events are ordered by id.
  occurredAt: position === '0' ? startOfFeed.occurredAt : occurredAt,
  id,
})

function toFeedEvent(organizationId: OrganizationId, row: FeedRow, feedId: number): FeedEvent {
  const contact = { id: row.contactId, email: row.contactEmail, firstName: row.contactFirstName }
  return {
    id: toText('evt', row.id),
    ...webhookPayload({ ...row, organizationId, contact }),
    cursor: toCursor(feedId, placeOfRow(row)),
  }
}
