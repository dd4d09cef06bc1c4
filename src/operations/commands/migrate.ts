import { readSettings } from '../../platform/config/config.ts'
import { migrate } from '../../platform/db/migrate.ts'
import { openLog } from '../../platform/runtime/log.ts'
import type { Call } from './call.ts'
import { databaseOf, printResult } from './database.ts'

export async function migrateDatabase({ sources }: Call): Promise<void> {
  const config = readSettings(sources)
  const database = await databaseOf(config, await openLog(config.LOG_LEVEL), { mayCreate: true, orRunning: true })
  try {
    const migrated = await migrate(database.db)
    printResult(database, migrated.length > 0 ? `Migrated: ${migrated.join(', ')}` : 'The database is up to date.')
  } finally {
    await database.close()
  }
}
