import { setTimeout as sleep } from 'node:timers/promises'
import { EmbeddedFailure, startEmbedded } from '@waxwing/embedded-postgres'
import type { Log } from '../runtime/log.ts'
import { SetupFault } from '../values/errors.ts'
import { connectFaultOf } from './connect-faults.ts'
import { type Connection, type Db, isConnectionFault, openDb } from './db.ts'

const giveUpAfterMs = 30_000
const retryEveryMs = 1_000
const versionMin = 15

export type Database = {
  db: Db
  /** For people: which database this is. */
  description: string
  note: string | null
  close(): Promise<void>
}

export type DatabaseOptions = {
  url: string | undefined
  dataDir: string
  connectionsMax: number
  log: Log
  /** Commands that end by themselves may join the database of a service that runs on the same DATA_DIR. */
  orRunning?: boolean
  /** Ends the wait for a database that cannot be reached, with an AbortError, after the try that is under way. */
  signal?: AbortSignal
}

/** The database of DATABASE_URL, waited for up to thirty seconds, or the embedded one in DATA_DIR. */
export async function openDatabase({
  url,
  dataDir,
  connectionsMax,
  log,
  orRunning,
  signal,
}: DatabaseOptions): Promise<Database> {
  if (url !== undefined) {
    const db = await connect({ connectionString: url }, connectionsMax, log, signal)
    return { db, description: withoutPassword(url), note: null, close: () => db.close() }
  }
  const embedded = await startEmbedded({ dataDir, log }).catch((error: unknown) => {
    if (!(error instanceof EmbeddedFailure)) throw error
    if (orRunning && error.runningAt) return error.runningAt
    throw new SetupFault(error.message)
  })
  if (!('stop' in embedded)) {
    const db = await connect(embedded, connectionsMax, log, signal)
    return { db, description: 'embedded PostgreSQL of the running service', note: null, close: () => db.close() }
  }
  try {
    const db = await connect(embedded.connection, connectionsMax, log, signal)
    const close = async () => {
      await db.close()
      await embedded.stop()
    }
    return { db, description: `embedded PostgreSQL in ${embedded.directory}`, note: embedded.note, close }
  } catch (error) {
    await embedded.stop()
    throw error
  }
}

async function connect(connection: Connection, connectionsMax: number, log: Log, signal?: AbortSignal): Promise<Db> {
  const db = openDb({ connection, connectionsMax })
  const giveUpAt = Date.now() + giveUpAfterMs
  for (;;) {
    try {
      await check(db)
      return db
    } catch (error) {
      const hopeless = connectFaultOf(error) ?? (isConnectionFault(error) ? undefined : error)
      if (hopeless !== undefined || Date.now() >= giveUpAt) {
        await db.close()
        throw (
          hopeless ??
          new SetupFault(
            `The database cannot be reached: ${(error as Error).message}. Check DATABASE_URL and whether it is running.`,
          )
        )
      }
      log.warn({ reason: (error as Error).message }, 'The database cannot be reached yet; trying again')
      // Throws when told to stop. There is no connection to close then.
      await sleep(retryEveryMs, undefined, signal && { signal })
    }
  }
}

type Traits = { version: number; encoding: string; user: string; schema: string | null; mayCreate: boolean | null }

/** Whether this is a database that can be used. What is wrong would show only later, and then as something else. */
async function check(db: Db): Promise<void> {
  const [row] = await db<Traits>`
    select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding,
      quote_ident(current_user) as user, quote_ident(current_schema()) as schema,
      has_schema_privilege(current_schema(), 'create') as may_create`
  const { version, encoding, user, schema, mayCreate } = row!
  const major = Math.floor(version / 10_000)
  if (major < versionMin) throw new SetupFault(`Waxwing needs PostgreSQL ${versionMin} or newer; this one is ${major}.`)
  // Others have no place for most characters, or do not know what a character is.
  if (encoding !== 'UTF8')
    throw new SetupFault(
      `Waxwing needs a database in UTF8; this one is in ${encoding}. Create another (create database … encoding 'UTF8' template template0) and name it in DATABASE_URL.`,
    )
  if (schema === null)
    throw new SetupFault(
      `The user of DATABASE_URL (${user}) can use no schema of its search_path: create one, or set another search_path.`,
    )
  if (!mayCreate)
    throw new SetupFault(
      `The user of DATABASE_URL may not create tables: run “grant create on schema ${schema} to ${user}” in the database, or name its owner there.`,
    )
}

function withoutPassword(url: string): string {
  const parsed = new URL(url)
  if (parsed.password) parsed.password = '********'
  for (const name of new Set(parsed.searchParams.keys()))
    if (/password/i.test(name)) parsed.searchParams.set(name, '********')
  return parsed.href
}
