import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Db, openDb } from '../../src/platform/db/db.ts'

export type TestServer = { host: string; port: number; user: string; password?: string; database: string }

import { until } from './until.ts'

/**
 * Creates and drops databases. TEST_DATABASE_HOOK names a module that exports these functions, for a server that needs
 * more than `create database`, such as citus-hook.ts.
 */
export type Databases = {
  /** Creates an empty database, or a copy of `template`. */
  createDatabase(server: TestServer, name: string, template?: string): Promise<void>
  /** Does nothing if the database does not exist. */
  dropDatabase(server: TestServer, name: string): Promise<void>
  /** Called once for each run, with the migrated database that all others are copied from. */
  afterMigration(db: Db, server: TestServer): Promise<void>
}

const plain: Databases = {
  // Copying files takes a seventh of the time that copying through the WAL does.
  createDatabase: (server, name, template = 'template0') =>
    inServer(server, `create database ${name} template ${template} strategy file_copy`),
  dropDatabase: (server, name) => inServer(server, `drop database if exists ${name} with (force)`),
  afterMigration: async () => {},
}

export async function databasesOf({ isEmpty = false } = {}): Promise<Databases> {
  const hook = isEmpty ? undefined : process.env.TEST_DATABASE_HOOK
  return hook ? ((await import(pathToFileURL(resolve(hook)).href)) as Databases) : plain
}

/** Copying a database waits for a checkpoint. */
const adminTimeoutMs = 120_000
const objectInUse = '55006'

/** Shared by all tests of a worker process: a new connection for each statement costs as much as dropping a database. */
const admins = new Map<string, Db>()

/** Runs a statement outside a transaction. Repeats it while sessions of the database that it concerns are ending. */
export async function inServer(server: TestServer, statement: string): Promise<void> {
  const key = `${server.host}:${server.port}`
  const admin = admins.get(key) ?? openDb({ connection: server, connectionsMax: 2, statementTimeoutMs: adminTimeoutMs })
  admins.set(key, admin)
  // The server waits five seconds for sessions of the database to end, which is not enough on a busy machine.
  await until('the sessions of a database to end', () =>
    admin.statement.script(statement).then(
      () => true,
      (error: { code?: string }) => {
        if (error.code !== objectInUse) throw error
        return false
      },
    ),
  )
}

/** Ends the connections of this process, so that it can exit. */
export async function closeAdmins(): Promise<void> {
  await Promise.all([...admins.values()].map((admin) => admin.close()))
  admins.clear()
}
