import type { Reader, Writer } from '../db/db.ts'

export async function upsertLastBackup(db: Writer): Promise<void> {
  await db`
    insert into last_backup (finished_at) values (now())
    on conflict (only_row) do update set finished_at = excluded.finished_at`
}

export async function findLastBackup(db: Reader): Promise<{ finishedAt: Date } | undefined> {
  const [row] = await db<{ finishedAt: Date }>`select finished_at from last_backup`
  return row
}
