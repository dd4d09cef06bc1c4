import { readConfig, readEnvironment } from '../config/config.ts'
import { migrate } from '../db/migrate.ts'
import { openLog } from '../runtime/log.ts'
import { databaseOf } from './database.ts'

export async function migrateDatabase(): Promise<undefined> {
  const config = readConfig(readEnvironment())
  const database = await databaseOf(config, await openLog(config.LOG_LEVEL), { orRunning: true })
  try {
    const migrated = await migrate(database.db)
    process.stdout.write(migrated.length > 0 ? `Migrated: ${migrated.join(', ')}\n` : 'The database is up to date.\n')
  } finally {
    await database.close()
  }
}
