import type { Registry } from 'prom-client'
import type { Db } from '../../platform/db/db.ts'
import { kept } from '../../platform/runtime/cache.ts'
import { measure } from '../../platform/runtime/measure.ts'
import { findLastBackup, upsertLastBackup } from './last-backup.sql.ts'

const keptMs = 60_000

/** Has no effect in a standby or a database of an older version, which can be backed up as well. */
export async function recordBackup(db: Db): Promise<void> {
  await upsertLastBackup(db.statement).catch(() => {})
}

/** Registers the time of the last backup. Without a value if `waxwing backup` was never used. */
export function measureLastBackup(registry: Registry, db: Db): void {
  const read = kept(keptMs, () => findLastBackup(db))
  const help = 'When the last backup was finished by `waxwing backup`.'
  measure(registry, 'waxwing_last_backup_timestamp_seconds', help, async () => {
    const backup = await read()
    return backup && backup.finishedAt.getTime() / 1_000
  })
}
