import type { Reader, Writer } from '../../platform/db/db.ts'
import { first } from '../../platform/db/rows.ts'

export const upsertLastBackup = (db: Writer) =>
  db`
    insert into last_backup (finished_at) values (now())
    on conflict (only_row) do update set finished_at = excluded.finished_at`

export const findLastBackup = (db: Reader) => first(db<{ finishedAt: Date }>`select finished_at from last_backup`)
