import type { Reader, Writer } from '../db/db.ts'

/** Why sending is paused: a backup was restored, or the operator ran `waxwing pause-sending`. */
export type PauseReason = 'restored' | 'operator'
export type Pause = { since: Date; reason: PauseReason }

export async function findSendingPause(db: Reader): Promise<Pause | undefined> {
  const [row] = await db<Pause>`select since, reason from sending_pause`
  return row
}

/** Replaces a pause that the database already has. */
export async function upsertSendingPause(db: Writer, reason: PauseReason): Promise<void> {
  await db`
    insert into sending_pause (reason) values (${reason})
    on conflict (only_row) do update set since = excluded.since, reason = excluded.reason`
}

export async function deleteSendingPause(db: Writer): Promise<void> {
  await db`delete from sending_pause`
}
