import type { Writable } from 'node:stream'
import type pg from 'pg'

const gathering = new WeakSet<Writable>()

/**
 * Sends all statements that are started in this turn of the event loop with one write: each write wakes up PostgreSQL,
 * and on a busy machine suspends this process.
 */
export function gatherWrites(client: pg.ClientBase): void {
  const { stream } = (client as unknown as { connection: { stream: Writable } }).connection
  if (gathering.has(stream)) return
  gathering.add(stream)
  stream.cork()
  process.nextTick(() => {
    gathering.delete(stream)
    stream.uncork()
  })
}
