import type { EventId } from '../../platform/values/ids.ts'
import { readUuid, uuidBytes, writeUuid } from '../../platform/values/uuid.ts'

/**
 * A place in the feed: after the event with this position, time and id. Events of one transaction have the same position
 * and are ordered by time, so that an open follows its email.
 */
export type Place = { position: bigint; occurredAt: Date; id: EventId }

const positionAt = 4
const timeAt = 12
const idAt = 20
const cursorBytes = idAt + uuidBytes
const cursorPattern = /^[A-Za-z0-9_-]{48}$/

const timeMax = new Date('9999-12-31T23:59:59.999Z')

const leastId = '00000000-0000-0000-0000-000000000000' as EventId
const greatestId = 'ffffffff-ffff-ffff-ffff-ffffffffffff' as EventId

/** Before all events. */
export const startOfFeed: Place = { position: 0n, occurredAt: new Date(0), id: leastId }

/** After all events with lower positions than the horizon. */
export const placeBefore = (horizon: bigint): Place => ({
  position: horizon - 1n,
  occurredAt: timeMax,
  id: greatestId,
})

/** Returns the cursor that clients get. `feedId` identifies the installation. */
export function toCursor(feedId: number, { position, occurredAt, id }: Place): string {
  const bytes = Buffer.alloc(cursorBytes)
  bytes.writeInt32BE(feedId)
  bytes.writeBigInt64BE(position, positionAt)
  bytes.writeBigInt64BE(BigInt(occurredAt.getTime()), timeAt)
  writeUuid(bytes, idAt, id)
  return bytes.toString('base64url')
}

/** Returns whether a cursor is after another one of the same installation. */
export function isBeyond(cursor: string, limit: string): boolean {
  // Positions, times and ids sort by their bytes: none is negative.
  return Buffer.from(cursor, 'base64url').compare(Buffer.from(limit, 'base64url')) > 0
}

/** Returns undefined if it is no cursor of this installation. */
export function parseCursor(feedId: number, text: string): Place | undefined {
  if (!cursorPattern.test(text)) return undefined
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.readInt32BE() !== feedId) return undefined
  const position = bytes.readBigInt64BE(positionAt)
  const occurredAt = new Date(Number(bytes.readBigInt64BE(timeAt)))
  // Other times are not valid in PostgreSQL.
  if (position < 0n || !(Math.abs(occurredAt.getTime()) <= timeMax.getTime())) return undefined
  return { position, occurredAt, id: readUuid(bytes, idAt) as EventId }
}
