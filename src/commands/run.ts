import { setFlagsFromString } from 'node:v8'
import { type App, createApp, type Role } from '../app.ts'
import { type Config, readConfig, readEnvironment } from '../config.ts'
import { type Database, openDatabase } from '../db/connect.ts'
import { migrate } from '../db/migrate.ts'
import { SetupFault } from '../errors.ts'
import { type Log, openLog } from '../log.ts'
import { type AppSecrets, loadAppSecret } from '../secrets.ts'
import { banner } from './banner.ts'

/** A process that cannot end decently within this time is ended. */
const stopWithinMs = 15_000
/** V8 lets the heap double and more before it cleans up, and what was garbage meanwhile is never given back to the system. */
const heapGrowth = '--heap-growing-percent=50'

export const readSecrets = (config: Config): AppSecrets => ({
  current: config.APP_SECRET ?? loadAppSecret(config.DATA_DIR),
  previous: config.APP_SECRET_PREVIOUS,
})

export const databaseOf = (config: Config, log: Log, options: { orRunning?: boolean } = {}): Promise<Database> =>
  openDatabase({
    url: config.DATABASE_URL,
    dataDir: config.DATA_DIR,
    connectionsMax: config.DATABASE_CONNECTIONS,
    log,
    ...options,
  })

/** Runs the service until it is told to stop. */
export async function run(roles: readonly Role[]): Promise<undefined> {
  setFlagsFromString(heapGrowth)
  const config = readConfig(readEnvironment())
  const secrets = readSecrets(config)
  const log = await openLog(config.LOG_LEVEL)
  const stopped = untilTold()
  const database = await databaseOf(config, log)
  try {
    const migrated = await migrate(database.db)
    if (migrated.length > 0) log.info({ migrated }, 'The database is up to date')
    const app = await createApp({ config, secrets, db: database.db, log, roles })
    await startOrExplain(app, config)
    process.stdout.write(await banner({ config, database, roles }))
    log.info({ signal: await stopped }, 'Stopping')
    setTimeout(() => process.exit(1), stopWithinMs).unref()
    await app.stop()
  } finally {
    await database.close()
    log.flush()
  }
}

async function startOrExplain(app: App, config: Config): Promise<void> {
  try {
    await app.start()
  } catch (error) {
    await app.stop().catch(() => {})
    const { code, port = config.PORT } = error as NodeJS.ErrnoException & { port?: number }
    if (code !== 'EADDRINUSE') throw error
    const setting = port === config.PORT ? 'PORT' : 'BOUNCE_SMTP_PORT'
    throw new SetupFault(`Port ${port} is taken. Set ${setting} to another one, or stop what uses it.`)
  }
}

/** From the very beginning, so that a signal during the start is not lost either. */
function untilTold(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve(signal))
  })
}
