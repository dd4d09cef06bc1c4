import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { inject } from 'vitest'
import { type Connection, type Db, openDb } from '../../src/db/db.ts'
import { detectDistribution } from '../../src/db/distribute.ts'
import {
  registeredTemplateDatabase,
  startedTemplateDatabase,
  type TestServer,
  templateDatabase,
} from './global-setup.ts'
import { until } from './until.ts'

export type TestDb = AsyncDisposable & { db: Db; connection: Connection & object; url: string }

/**
 * Creates and drops migrated databases on a server that cannot copy them, for example because their tables are
 * distributed. TEST_DATABASE_HOOK names a module that exports these functions.
 */
type DatabaseHook = {
  /** Returns the name of a migrated database without rows. */
  acquireDatabase(): Promise<string>
  releaseDatabase(name: string): Promise<void>
}

/**
 * Creates a migrated database for one test. With `started`, it also has the partitions that a service creates when it
 * starts, which takes longer than all the rest of its start. With `registered`, it also has the organization of the
 * injected `owner`.
 */
export async function createTestDb({ empty = false, started = false, registered = false } = {}): Promise<TestDb> {
  const server = inject('postgres')
  const prepared = registered ? registeredTemplateDatabase : started ? startedTemplateDatabase : templateDatabase
  const template = empty ? 'template0' : prepared
  const hook = empty ? undefined : await readHook()
  const database = hook ? await hook.acquireDatabase() : await createDatabase(template)
  const connection = { ...server, database }
  const direct = { ...inject('directPostgres'), database }
  // A command must not mistake the test for a running service.
  const db = openDb({
    connection,
    applicationName: 'waxwing test',
    direct: isSame(server, direct) ? undefined : direct,
  })
  if (hook) await detectDistribution(db)
  const login = server.password ? `${server.user}:${encodeURIComponent(server.password)}` : server.user
  return {
    db,
    connection,
    url: `postgres://${login}@localhost/${database}?host=${encodeURIComponent(server.host)}&port=${server.port}`,
    [Symbol.asyncDispose]: async () => {
      await db.close()
      await (hook ? hook.releaseDatabase(database) : inServer(`drop database ${database} with (force)`))
    },
  }
}

/** Opens the database several times, as other processes do. */
export const openAgain = ({ db, connection }: TestDb, times: number): Db[] =>
  Array.from({ length: times }, () =>
    Object.assign(openDb({ connection, connectionsMax: 2 }), { isDistributed: db.isDistributed }),
  )

const isSame = (a: TestServer, b: TestServer) => a.host === b.host && a.port === b.port

async function createDatabase(template: string): Promise<string> {
  const database = `test_${randomBytes(6).toString('hex')}`
  // Copying files takes a seventh of the time that copying through the WAL does.
  await inServer(`create database ${database} template ${template} strategy file_copy`)
  return database
}

async function readHook(): Promise<DatabaseHook | undefined> {
  const path = process.env.TEST_DATABASE_HOOK
  return path ? ((await import(pathToFileURL(resolve(path)).href)) as DatabaseHook) : undefined
}

/** Creates a database user who can create tables but owns none. */
export async function createGuest({ db, connection, url }: TestDb): Promise<AsyncDisposable & { url: string }> {
  const { user, database } = connection as { user: string; database: string }
  const guest = `${database}_guest`
  await db.statement.script(`create role ${guest} login; grant create on schema public to ${guest}`)
  return {
    url: url.replace(`//${user}@`, `//${guest}@`),
    [Symbol.asyncDispose]: () => db.statement.script(`drop owned by ${guest}; drop role ${guest}`),
  }
}

/** Copying a database waits for a checkpoint. */
const adminTimeoutMs = 120_000
const objectInUse = '55006'

/** Shared by all tests of a worker process: a new connection for each statement costs as much as dropping a database. */
let admin: Db | undefined

async function inServer(statement: string): Promise<void> {
  admin ??= openDb({ connection: inject('directPostgres'), connectionsMax: 2, statementTimeoutMs: adminTimeoutMs })
  const { script } = admin.statement
  // The server waits five seconds for sessions of the database to end, which is not enough on a busy machine.
  await until('the sessions of a database to end', () =>
    script(statement).then(
      () => true,
      (error: { code?: string }) => {
        if (error.code !== objectInUse) throw error
        return false
      },
    ),
  )
}
