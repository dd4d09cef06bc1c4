import type { EventId } from '../values/ids.ts'
import { readUuid, uuidBytes, writeUuid } from '../values/uuid.ts'

/** A place in the feed: after the event with this position and id. */
export type Place = { position: bigint; id: EventId }

const idAt = 12
const cursorBytes = idAt + uuidBytes
const cursorPattern = /^[A-Za-z0-9_-]{38}$/

const leastId = '00000000-0000-0000-0000-000000000000' as EventId
const greatestId = 'ffffffff-ffff-ffff-ffff-ffffffffffff' as EventId

/** Before all events. */
export const startOfFeed: Place = { position: 0n, id: leastId }

/** After all events with lower positions than the horizon. */
export const placeBefore = (horizon: bigint): Place => ({ position: horizon - 1n, id: greatestId })

/** Returns the cursor that clients get. `feedId` identifies the installation. */
export function toCursor(feedId: number, { position, id }: Place): string {
  const bytes = Buffer.alloc(cursorBytes)
  bytes.writeInt32BE(feedId)
  bytes.writeBigInt64BE(position, 4)
  writeUuid(bytes, idAt, id)
  return bytes.toString('base64url')
}

/** Returns undefined if it is no cursor of this installation. */
export function parseCursor(feedId: number, text: string): Place | undefined {
  if (!cursorPattern.test(text)) return undefined
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.readInt32BE() !== feedId) return undefined
  const position = bytes.readBigInt64BE(4)
  return position < 0n ? undefined : { position, id: readUuid(bytes, idAt) as EventId }
}
