import { type Config, readSettings } from '../../platform/config/config.ts'
import { type Database, type DatabaseOptions, openDatabase } from '../../platform/db/connect.ts'
import { migrate } from '../../platform/db/migrate.ts'
import { isMarkedWith } from '../../platform/db/secret-mark.ts'
import { type Log, openLog } from '../../platform/runtime/log.ts'
import { type AppSecrets, findAppSecret, loadAppSecret } from '../../platform/secrets/secrets.ts'
import { SetupFault } from '../../platform/values/errors.ts'
import type { Call } from './call.ts'

export const otherSecret =
  'This database is used with another APP_SECRET, so links in sent emails and webhook secrets cannot be verified or decrypted. Set APP_SECRET to that secret, or, if it was changed, set APP_SECRET_PREVIOUS. If it is lost, empty the table secret_mark and rotate the secret of each webhook.'

/** For commands that run the service: generates the secret in DATA_DIR if there is none. */
export const loadSecrets = async (config: Config): Promise<AppSecrets> => ({
  current: config.APP_SECRET ?? (await loadAppSecret(config.DATA_DIR)),
  previous: config.APP_SECRET_PREVIOUS,
})

/**
 * Returns the secrets of the service that uses this database. Throws `SetupFault` if there is none, or if an external
 * database is used with another one. An embedded database may get a new secret.
 */
export async function readSecrets({ db }: Database, config: Config): Promise<AppSecrets> {
  const current = config.APP_SECRET ?? (await findAppSecret(config.DATA_DIR))
  if (current === undefined)
    throw new SetupFault(
      `There is no secret in ${config.DATA_DIR} (DATA_DIR), and APP_SECRET is not set. Use the settings of the service, for example with --env-file FILE.`,
    )
  const secrets = { current, previous: config.APP_SECRET_PREVIOUS }
  if (config.DATABASE_URL !== undefined && !(await isMarkedWith(db, secrets))) throw new SetupFault(otherSecret)
  return secrets
}

type Options = Pick<DatabaseOptions, 'mayCreate' | 'orRunning' | 'upgrade' | 'signal' | 'applicationName'>

export const databaseOf = (config: Config, log: Log, options: Options): Promise<Database> =>
  openDatabase({
    url: config.DATABASE_URL,
    directUrl: config.DATABASE_DIRECT_URL,
    dataDir: config.DATA_DIR,
    connectionsMax: config.DATABASE_CONNECTIONS,
    log,
    ...options,
  })

/** For commands on the database of a service that may be running. */
export const ofService = { orRunning: true, migrates: true }

/** Runs a command on a database. Throws `SetupFault` if there is none and it may not be created. */
export async function withDatabase<T>(
  { sources }: Call,
  { migrates, ...options }: Options & { migrates: boolean },
  work: (database: Database, config: Config, log: Log) => Promise<T>,
): Promise<T> {
  const config = readSettings(sources)
  // Standard output has only the result.
  const log = await openLog('silent')
  const database = await databaseOf(config, log, options)
  try {
    if (migrates) await migrate(database.db)
    return await work(database, config, log)
  } finally {
    await database.close()
  }
}

/** Prints the result of a command with its database, so that a command with the wrong settings is noticed. */
export function printResult({ description }: Database, ...lines: string[]): void {
  process.stdout.write(`${[...lines, `Database: ${description}`].join('\n')}\n`)
}

/** Prints a result for programs: an object, to which the database is added. */
export function printJson({ description }: Database, result: object, indent?: number): void {
  process.stdout.write(`${JSON.stringify({ ...result, database: description }, null, indent)}\n`)
}
