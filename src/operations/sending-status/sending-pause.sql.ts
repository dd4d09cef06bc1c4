import type { Reader, Writer } from '../../platform/db/db.ts'
import { first } from '../../platform/db/rows.ts'

/** Why sending is paused: a backup was restored, or the operator ran `waxwing pause-sending`. */
export type PauseReason = 'restored' | 'operator'
export type Pause = { since: Date; reason: PauseReason }

export const findPause = (db: Reader) => first(db<Pause>`select since, reason from sending_pause`)

/**
 * Stops emails and webhooks of all processes until `resumeSending`. They are accepted and queued as usual. Other
 * processes notice within two seconds.
 */
export const pauseSending = (db: Writer, reason: PauseReason) =>
  db`
    insert into sending_pause (reason) values (${reason})
    on conflict (only_row) do update set since = excluded.since, reason = excluded.reason`

export const resumeSending = (db: Writer) => db`delete from sending_pause`
