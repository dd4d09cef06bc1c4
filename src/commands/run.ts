import { once } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { type App, createApp, type Role } from '../app.ts'
import { type Config, readConfig, readEnvironment, type SettingName } from '../config/config.ts'
import { type Database, type DatabaseOptions, openDatabase } from '../db/connect.ts'
import { migrate } from '../db/migrate.ts'
import { markSecret } from '../db/secret-mark.ts'
import { checkSettings } from '../parts.ts'
import { type Log, openLog } from '../runtime/log.ts'
import { type AppSecrets, loadAppSecret } from '../secrets/secrets.ts'
import { SetupFault } from '../values/errors.ts'
import { banner } from './banner.ts'

const otherSecret =
  'This database is used with another APP_SECRET, so links in mail and webhook secrets made with it cannot be read. Set APP_SECRET to that one, or, when it was changed, APP_SECRET_PREVIOUS. If it is lost, empty the table secret_mark and rotate the secret of each webhook.'
/** A process that cannot end decently within this time is ended. */
const stopWithinMs = 15_000
const lingerMs = 500
/** V8 lets the heap double and more before it cleans up, and what was garbage meanwhile is never given back to the system. */
const heapGrowth = '--heap-growing-percent=50'

export const readSecrets = (config: Config): AppSecrets => ({
  current: config.APP_SECRET ?? loadAppSecret(config.DATA_DIR),
  previous: config.APP_SECRET_PREVIOUS,
})

export const databaseOf = (
  config: Config,
  log: Log,
  options: Pick<DatabaseOptions, 'orRunning' | 'signal'> = {},
): Promise<Database> =>
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
  checkSettings(config)
  const secrets = readSecrets(config)
  const log = await openLog(config.LOG_LEVEL)
  const told = whenTold()
  const database = await databaseOf(config, log, { signal: told }).catch((error: unknown) => {
    if (!told.aborted) throw error
    log.info({ signal: told.reason }, 'Stopping before the database could be reached')
    log.flush()
  })
  if (!database) return
  try {
    const migrated = await migrate(database.db)
    if (migrated.length > 0) log.info({ migrated }, 'The database is up to date')
    const currentSince = await checkSecret(database, config, secrets, log)
    const app = await createApp({ config, secrets: { ...secrets, currentSince }, db: database.db, log, roles })
    await startOrExplain(app, config, roles)
    process.stdout.write(await banner({ config, database, roles }))
    if (!told.aborted) await once(told, 'abort')
    log.info({ signal: told.reason }, 'Stopping')
    setTimeout(() => process.exit(1), stopWithinMs).unref()
    await app.stop()
  } finally {
    await database.close()
    log.flush()
  }
  // All is recorded. A connection that is still being opened, say to a relay that does not greet, is not waited for.
  setTimeout(() => process.exit(), lingerMs).unref()
}

/**
 * Returns when the current secret was first used. An embedded database may be given another secret, though webhooks need new
 * ones then; an external one may be shared, so a different secret is refused.
 */
async function checkSecret({ db }: Database, { DATABASE_URL: url }: Config, secrets: AppSecrets, log: Log) {
  const since = await markSecret(db, secrets)
  if (since) return since
  if (url !== undefined) throw new SetupFault(otherSecret)
  log.warn(otherSecret)
  return undefined
}

async function startOrExplain(app: App, config: Config, roles: readonly Role[]): Promise<void> {
  try {
    await app.start()
  } catch (error) {
    await app.stop().catch(() => {})
    const ownPort = roles.includes('serve') ? 'PORT' : 'WORK_PORT'
    throw listenFault(error as ListenError, config, ownPort) ?? error
  }
}

type ListenError = NodeJS.ErrnoException & { port?: number; address?: string; hostname?: string }

/** What keeps a listener from its address, as a sentence; undefined when it is something else that went wrong. */
function listenFault(
  { code, port, address, hostname }: ListenError,
  config: Config,
  ownPort: SettingName,
): SetupFault | undefined {
  const host = address ?? hostname
  const isBounce = port === undefined ? host !== config.HOST : port === config.BOUNCE_SMTP_PORT
  const [portName, hostName] = isBounce ? ['BOUNCE_SMTP_PORT', 'BOUNCE_SMTP_HOST'] : [ownPort, 'HOST']
  switch (code) {
    case 'EADDRINUSE':
      return new SetupFault(`Port ${port} is taken. Set ${portName} to another one, or stop what uses it.`)
    case 'EACCES':
      return new SetupFault(`Port ${port} may not be used by this user. Set ${portName} to one from 1024 on.`)
    case 'EADDRNOTAVAIL':
      return new SetupFault(`${host} is no address of this machine. Set ${hostName} to one that is, or to 0.0.0.0.`)
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new SetupFault(`${host} cannot be found. Set ${hostName} to an address of this machine, or to 0.0.0.0.`)
    default:
      return undefined
  }
}

/** From the very beginning, so that a signal during the start is not lost either. Its reason is the signal's name. */
function whenTold(): AbortSignal {
  const told = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => told.abort(signal))
  return told.signal
}
