import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Embedded, EmbeddedFailure, hasEmbedded, startEmbedded } from '@waxwing/embedded-postgres'
import type { Log } from '../runtime/log.ts'
import { SetupFault } from '../values/errors.ts'
import { connectFaultOf } from './connect-faults.ts'
import { type Connection, type Db, type DbOptions, isConnectionFault, openDb } from './db.ts'
import { hasTables } from './migrate.ts'

const giveUpAfterMs = 30_000
const retryEveryMs = 1_000
const versionMin = 15

export type Database = {
  db: Db
  /** For child processes, which use the same database. */
  address: Pick<DbOptions, 'connection' | 'direct'>
  /** Shown at startup, without password. */
  description: string
  note: string | null
  close(): Promise<void>
}

export type DatabaseOptions = {
  url: string | undefined
  /** The same database without a connection pooler. */
  directUrl?: string | undefined
  dataDir: string
  connectionsMax: number
  log: Log
  /**
   * Create the embedded database if there is none, and accept one without tables. Otherwise a command whose settings
   * differ from those of the service would change an empty database and report success.
   */
  mayCreate?: boolean
  /** If a service is running on the same DATA_DIR, connect to its embedded database. For short-lived commands. */
  orRunning?: boolean
  /** Called if the embedded database was created by an older major version of PostgreSQL. */
  upgrade?: () => Promise<void>
  /** Shown in pg_stat_activity. */
  applicationName?: string
  /** Stops waiting for an unreachable database after the current attempt. `openDatabase` then throws an AbortError. */
  signal?: AbortSignal
}

const settingsAdvice =
  'Nothing was created. Use the settings of the service: with --env-file FILE, or with the same DATABASE_URL or DATA_DIR. For a new installation, run `waxwing start` first.'

/**
 * Connects to the database of DATABASE_URL, or starts the embedded one in DATA_DIR. Waits up to 30 seconds for a
 * database that cannot be reached. Throws `SetupFault` if it cannot be used, or does not exist and may not be created.
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { url, dataDir, mayCreate = false } = options
  if (url === undefined && !mayCreate && !(await hasEmbedded(dataDir)))
    throw new SetupFault(`There is no database in ${resolve(dataDir)} (DATA_DIR). ${settingsAdvice}`)
  const database = await open(options)
  if (mayCreate) return database
  try {
    if (await hasTables(database.db)) return database
    throw new SetupFault(`There are no tables of Waxwing in this database: ${database.description}. ${settingsAdvice}`)
  } catch (error) {
    await database.close()
    throw error
  }
}

async function open(options: DatabaseOptions): Promise<Database> {
  const { url, directUrl, connectionsMax, log, signal } = options
  const { applicationName = 'waxwing' } = options
  const pool: PoolOptions = { connectionsMax, applicationName }
  if (url !== undefined) {
    if (directUrl !== undefined) pool.direct = { connectionString: directUrl }
    const db = await connect({ connectionString: url }, pool, log, signal)
    const address = { connection: { connectionString: url }, direct: pool.direct }
    return { db, address, description: withoutPassword(url), note: null, close: () => db.close() }
  }
  const embedded = await start(options)
  const address = { connection: embedded.connection }
  // Another process runs the database, if it cannot be stopped here.
  const { stop, note } = 'stop' in embedded ? embedded : { stop: async () => {}, note: null }
  try {
    const db = await connect(embedded.connection, pool, log, signal)
    const close = async () => {
      await db.close()
      await stop()
    }
    return { db, address, description: `embedded PostgreSQL in ${embedded.directory}`, note, close }
  } catch (error) {
    await stop()
    throw error
  }
}

async function start({
  upgrade,
  ...options
}: DatabaseOptions): Promise<Embedded | NonNullable<EmbeddedFailure['running']>> {
  const { dataDir, log, orRunning } = options
  try {
    return await startEmbedded({ dataDir, log })
  } catch (error) {
    if (!(error instanceof EmbeddedFailure)) throw error
    if (orRunning && error.running) return error.running
    if (!upgrade || error.olderVersion === undefined) throw new SetupFault(error.message)
    await upgrade()
    return start(options)
  }
}

type PoolOptions = Omit<DbOptions, 'connection'>

async function connect(connection: Connection, pool: PoolOptions, log: Log, signal?: AbortSignal): Promise<Db> {
  const db = openDb({ connection, ...pool })
  const giveUpAt = Date.now() + giveUpAfterMs
  for (;;) {
    try {
      await check(db)
      return db
    } catch (error) {
      const permanent = connectFaultOf(error) ?? (isConnectionFault(error) ? undefined : error)
      if (permanent !== undefined || Date.now() >= giveUpAt) {
        await db.close()
        throw (
          permanent ??
          new SetupFault(
            `The database cannot be reached: ${(error as Error).message}. Check DATABASE_URL and that the database is running.`,
          )
        )
      }
      log.warn({ reason: (error as Error).message }, 'Database unreachable; retrying')
      // Throws if aborted. There is no connection to close then.
      await sleep(retryEveryMs, undefined, signal && { signal })
    }
  }
}

type Traits = { version: number; encoding: string; user: string; schema: string | null; mayCreate: boolean | null }

/** Throws `SetupFault` if the database cannot be used: otherwise it would fail later with an unrelated error. */
async function check(db: Db): Promise<void> {
  const [row] = await db<Traits>`
    select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding,
      quote_ident(current_user) as user, quote_ident(current_schema()) as schema,
      has_schema_privilege(current_schema(), 'create') as may_create`
  const { version, encoding, user, schema, mayCreate } = row!
  const major = Math.floor(version / 10_000)
  if (major < versionMin)
    throw new SetupFault(`Waxwing requires PostgreSQL ${versionMin} or newer, but the server is version ${major}.`)
  // Other encodings cannot store all characters, or do not validate them.
  if (encoding !== 'UTF8')
    throw new SetupFault(
      `Waxwing requires a database with the encoding UTF8, but this one has ${encoding}. Create another one (create database … encoding 'UTF8' template template0) and set it in DATABASE_URL.`,
    )
  if (schema === null)
    throw new SetupFault(
      `The user of DATABASE_URL (${user}) has no usable schema in its search_path. Create one, or change the search_path.`,
    )
  if (!mayCreate)
    throw new SetupFault(
      `The user of DATABASE_URL cannot create tables. Run “grant create on schema ${schema} to ${user}” in the database, or connect as its owner.`,
    )
}

function withoutPassword(url: string): string {
  const parsed = new URL(url)
  if (parsed.password) parsed.password = '********'
  for (const name of new Set(parsed.searchParams.keys()))
    if (/password/i.test(name)) parsed.searchParams.set(name, '********')
  return parsed.href
}
