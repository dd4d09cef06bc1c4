import type { Writer } from '../../platform/db/db.ts'

/** Sends a text to all processes that listen to the channel. */
export const notify = (db: Writer, channel: string, payload: string) => db`select pg_notify(${channel}, ${payload})`
