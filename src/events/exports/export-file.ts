import { constants, createGzip } from 'node:zlib'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import { isBeyond } from '../feed/cursor.ts'
import { readFeed } from '../feed/feed.ts'

/** A file ends with the page that reaches one of these. */
export const fileEventsMax = 50_000
const fileBytesMax = 4 * 1024 * 1024
/** Read and written as JSON at once, which takes a few milliseconds of the main thread. */
const pageMax = 250

export type ExportFile = {
  events: number
  /** Compressed. */
  body: Buffer
  /** The cursor after the last event, or the end of the feed if it was reached. */
  until: string
  /** True if there were no more events. */
  isEnd: boolean
}

export type FileRange = {
  organizationId: OrganizationId
  after: string | null
  /** The end of a file whose upload is repeated. */
  until: string | null
}

/**
 * Reads the next events of the feed into a compressed file in memory. Throws if the feed ends before `until`: an
 * incomplete file would replace the complete one.
 */
export async function createFile(read: BoundedRead, { organizationId, after, until }: FileRange): Promise<ExportFile> {
  const gzip = createGzip()
  const pieces: Buffer[] = []
  let bytes = 0
  const ended = new Promise<void>((resolve, reject) => gzip.once('end', resolve).once('error', reject))
  gzip.on('data', (piece: Buffer) => {
    pieces.push(piece)
    bytes += piece.length
  })
  let events = 0
  let cursor = after ?? undefined
  let isEnd = false
  const isComplete = () =>
    until === null ? events >= fileEventsMax || bytes >= fileBytesMax : cursor !== undefined && !isBeyond(until, cursor)
  while (!isEnd && !isComplete()) {
    const page = await read(organizationId, (db) => readFeed(db, organizationId, { after: cursor, limit: pageMax }))
    const wanted = until === null ? page.events : page.events.filter((event) => !isBeyond(event.cursor, until))
    isEnd = page.isEnd
    cursor = page.cursor
    events += wanted.length
    const text = wanted.map(({ cursor: _, ...event }) => `${JSON.stringify(event)}\n`).join('')
    // Waits for the compression of this page, so that pages do not pile up.
    if (text) await new Promise<void>((resolve) => gzip.write(text, () => gzip.flush(constants.Z_SYNC_FLUSH, resolve)))
  }
  // The end of the feed came first: this reader is behind the one that planned the file.
  if (!isComplete() && until !== null) {
    gzip.destroy()
    throw new Error('The feed ends before the end of the planned file.')
  }
  gzip.end()
  await ended
  return { events, body: Buffer.concat(pieces), until: until ?? cursor!, isEnd: isEnd && until === null }
}
