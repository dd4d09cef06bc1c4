import type { Reader, Tx, Writer } from '../../platform/db/db.ts'
import { first, onlyValue } from '../../platform/db/rows.ts'

// Positions have 64 bits and are texts here: PostgreSQL's numbers would be rounded. Their upper bits are the epoch.

const epochShift = 48

/** Identifies the server and its timeline: wherever transaction ids may begin again, this is different. */
export const selectServer = (db: Reader) =>
  onlyValue(db<{ server: string }>`
    select system_identifier || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8) as server
    from pg_control_system()`)

export type StoredEpoch = { epoch: number; server: string | null }

export const findEpoch = (db: Reader) => first(db<StoredEpoch>`select epoch, server from event_feed`)
export const lockEpoch = (tx: Tx) => first(tx<StoredEpoch>`select epoch, server from event_feed for update`)

/** Returns the epoch in the default of `events.feed_position`. */
export async function findDefaultEpoch(db: Reader): Promise<number> {
  const text = await onlyValue(db<{ text: string }>`
    select pg_get_expr(adbin, adrelid) as text from pg_attrdef
    join pg_attribute on attrelid = adrelid and attnum = adnum
    where adrelid = 'events'::regclass and attname = 'feed_position'`)
  return Number(BigInt(/\d+/.exec(text)![0]) >> BigInt(epochShift))
}

export async function setDefaultEpoch(tx: Tx, epoch: number): Promise<void> {
  const start = BigInt(epoch) << BigInt(epochShift)
  await tx.script(
    `alter table events alter column feed_position set default ${start} + pg_current_xact_id()::text::int8`,
  )
}

export const updateEpoch = (tx: Tx, { epoch, server }: StoredEpoch) =>
  tx`update event_feed set epoch = ${epoch}, server = ${server}`

export const updateDroppedThrough = (db: Writer, position: string) =>
  db`update event_feed set dropped_through = greatest(dropped_through, ${position}::int8)`

export type FeedState = {
  feedId: number
  /** Events with lower positions are complete. */
  horizon: string
  /** The next position. */
  next: string
  droppedThrough: string
  /** Events with position 0 were recorded before. */
  createdAt: Date
  /** Individual events before this time were removed. */
  keptSince: Date | null
}

/**
 * Reads where the feed ends now. On a cluster, this runs on the coordinator, where `events.feed_position` gets its values
 * as well: Citus evaluates defaults before it sends rows to a node. Must be read before the events.
 */
export async function getFeedState(db: Reader): Promise<FeedState> {
  const [state] = await db<FeedState>`
    select feed_id, dropped_through::text, created_at, since as kept_since,
      ((epoch::int8 << ${epochShift}) + pg_snapshot_xmin(snapshot)::text::int8)::text as horizon,
      ((epoch::int8 << ${epochShift}) + pg_snapshot_xmax(snapshot)::text::int8)::text as next
    from event_feed
    cross join pg_current_snapshot() as snapshot
    left join events_kept on true`
  return state!
}
