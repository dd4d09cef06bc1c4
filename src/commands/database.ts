import type { Config } from '../config/config.ts'
import { type Database, type DatabaseOptions, openDatabase } from '../db/connect.ts'
import type { Log } from '../runtime/log.ts'
import { type AppSecrets, loadAppSecret } from '../secrets/secrets.ts'

export const readSecrets = async (config: Config): Promise<AppSecrets> => ({
  current: config.APP_SECRET ?? (await loadAppSecret(config.DATA_DIR)),
  previous: config.APP_SECRET_PREVIOUS,
})

export const databaseOf = (
  config: Config,
  log: Log,
  options: Pick<DatabaseOptions, 'orRunning' | 'signal' | 'applicationName'> = {},
): Promise<Database> =>
  openDatabase({
    url: config.DATABASE_URL,
    directUrl: config.DATABASE_DIRECT_URL,
    replicaUrl: config.DATABASE_REPLICA_URL,
    dataDir: config.DATA_DIR,
    connectionsMax: config.DATABASE_CONNECTIONS,
    log,
    ...options,
  })
