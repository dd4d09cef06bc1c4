import { once } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import type { Role } from '../../platform/area.ts'
import { type Config, readSettings, type SettingName } from '../../platform/config/config.ts'
import type { Database } from '../../platform/db/connect.ts'
import { isConnectionFault } from '../../platform/db/db.ts'
import { migrate } from '../../platform/db/migrate.ts'
import { markSecret } from '../../platform/db/secret-mark.ts'
import { withPublicAddress } from '../../platform/installation/public-address.ts'
import { type Log, openLog } from '../../platform/runtime/log.ts'
import type { AppSecrets } from '../../platform/secrets/secrets.ts'
import { SetupFault } from '../../platform/values/errors.ts'
import type { Service } from '../../service.ts'
import type { Call } from './call.ts'
import { checkSettings } from './check-settings.ts'
import { databaseOf, loadSecrets, otherSecret } from './database.ts'

/** The process exits after this time even if shutdown is not complete. */
const stopWithinMs = 15_000
const lingerMs = 500
/** By default V8 lets the heap more than double before a collection, and does not return that memory to the system. */
const heapGrowth = '--heap-growing-percent=50'

/** Runs the service until SIGINT or SIGTERM. */
export async function run(roles: readonly Role[], { sources, flags }: Call): Promise<undefined> {
  setFlagsFromString(heapGrowth)
  const config = readSettings(sources)
  checkSettings(config)
  const secrets = await loadSecrets(config)
  const log = await openLog(config.LOG_LEVEL)
  const shutdownSignal = onShutdownSignal()
  const upgrade = async () => (await import('./upgrade-cluster.ts')).upgradeCluster(config, log)
  const options = { mayCreate: true, upgrade, signal: shutdownSignal }
  const database = await databaseOf(config, log, options).catch((error: unknown) => {
    if (!shutdownSignal.aborted) throw error
    log.info({ signal: shutdownSignal.reason }, 'Stopping before the database could be reached')
    log.flush()
  })
  if (!database) return
  try {
    const migrated = await migrate(database.db)
    if (migrated.length > 0) log.info({ migrated }, 'Migrations applied')
    const currentSince = await checkSecret(database, config, secrets, log)
    const demo = flags.demo ? await createDemo(database, config, secrets) : undefined
    // Loaded here, so that invalid settings and an unusable database are reported without waiting for the service.
    const { createService } = await import('../../service.ts')
    const { banner } = await import('./banner.ts')
    const { countAllSealed } = await import('../sealed-tables.ts')
    const { db, address } = database
    const service = await createService({
      config,
      secrets: { ...secrets, currentSince },
      db,
      databaseAddress: roles.includes('work') ? address : undefined,
      log,
      roles,
    })
    await startOrExplain(service, config, roles)
    try {
      const sealed = await countAllSealed(db, secrets).catch(noneIfUnreachable)
      process.stdout.write(await banner({ config, sources, database, roles, demo, sealed }))
      if (!shutdownSignal.aborted) await once(shutdownSignal, 'abort')
      log.info({ signal: shutdownSignal.reason }, 'Stopping')
    } finally {
      setTimeout(() => process.exit(1), stopWithinMs).unref()
      await service.stop()
    }
  } finally {
    await database.close()
    log.flush()
  }
  // Everything is recorded. Connections that are still being opened, for example to an unresponsive relay, are not
  // waited for.
  setTimeout(() => process.exit(), lingerMs).unref()
}

/** A node of a distributed database may be down. The secrets are checked again later. */
function noneIfUnreachable(error: unknown): [] {
  if (isConnectionFault(error)) return []
  throw error
}

async function createDemo({ db }: Database, config: Config, secrets: AppSecrets) {
  const { ensureDemo } = await import('../demo/demo.ts')
  const { BASE_URL: baseUrl } = await withPublicAddress(db, config)
  return ensureDemo(db, secrets, baseUrl)
}

/**
 * Returns when the current secret was first used. Throws `SetupFault` if an external database, which may be shared, is
 * used with another secret. An embedded database may get a new secret; webhook secrets must be rotated then.
 */
async function checkSecret({ db }: Database, { DATABASE_URL: url }: Config, secrets: AppSecrets, log: Log) {
  const since = await markSecret(db, secrets)
  if (since) return since
  if (url !== undefined) throw new SetupFault(otherSecret)
  log.warn(otherSecret)
  return undefined
}

async function startOrExplain(service: Service, config: Config, roles: readonly Role[]): Promise<void> {
  try {
    await service.start()
  } catch (error) {
    await service.stop().catch(() => {})
    const mainPort = roles.includes('serve') ? 'PORT' : 'WORK_PORT'
    throw listenFault(error as ListenError, config, mainPort) ?? error
  }
}

type ListenError = NodeJS.ErrnoException & { port?: number; address?: string; hostname?: string }

/** Maps an error of `listen` to a `SetupFault` with advice. Returns undefined for all other errors. */
function listenFault({ code, port, address, hostname }: ListenError, config: Config, mainPort: SettingName) {
  const host = address ?? hostname
  const listeners: [SettingName, SettingName][] = [
    [mainPort, 'HOST'],
    ['METRICS_PORT', 'METRICS_HOST'],
    ['BOUNCE_SMTP_PORT', 'BOUNCE_SMTP_HOST'],
    ['SUBMISSION_PORT', 'SUBMISSION_HOST'],
    ['SUBMISSION_TLS_PORT', 'SUBMISSION_HOST'],
  ]
  const [portName, hostName] =
    listeners.find((names) => (port === undefined ? config[names[1]] === host : config[names[0]] === port)) ??
    listeners[0]!
  switch (code) {
    case 'EADDRINUSE':
      return new SetupFault(
        `Port ${port} is in use. Set ${portName} to another port, or stop the program that uses it.`,
      )
    case 'EACCES':
      return new SetupFault(`This user is not allowed to use port ${port}. Set ${portName} to 1024 or higher.`)
    case 'EADDRNOTAVAIL':
      return new SetupFault(
        `${host} is not an address of this machine. Set ${hostName} to an address of this machine, or to 0.0.0.0.`,
      )
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new SetupFault(`${host} does not resolve. Set ${hostName} to an address of this machine, or to 0.0.0.0.`)
    default:
      return undefined
  }
}

/** Created first, so that a signal during startup is not lost. The abort reason is the name of the signal. */
function onShutdownSignal(): AbortSignal {
  const shutdown = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => shutdown.abort(signal))
  return shutdown.signal
}
