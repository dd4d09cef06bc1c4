import { randomUUID } from 'node:crypto'
import { inject } from 'vitest'
import { detectDistribution } from '../../src/platform/db/cluster/distribute.ts'
import { type Connection, type Db, openDb } from '../../src/platform/db/db.ts'
import { databasesOf, type TestServer } from './databases.ts'
import { registeredTemplateDatabase, startedTemplateDatabase, templateDatabase } from './global-setup.ts'

export type TestDb = AsyncDisposable & { db: Db; connection: Connection & object; url: string }

/**
 * Creates a migrated database for one test. With `started`, it also has the partitions that a service creates when it
 * starts, which takes longer than all the rest of its start. With `registered`, it also has the organization of the
 * injected `owner`.
 */
export async function createTestDb({ empty = false, started = false, registered = false } = {}): Promise<TestDb> {
  const server = inject('postgres')
  const prepared = registered ? registeredTemplateDatabase : started ? startedTemplateDatabase : templateDatabase
  const directServer = inject('directPostgres')
  const databases = await databasesOf({ isEmpty: empty })
  const database = `test_${randomUUID().replaceAll('-', '').slice(-12)}`
  await databases.createDatabase(directServer, database, empty ? undefined : prepared)
  const connection = { ...server, database }
  const direct = { ...directServer, database }
  // A command must not mistake the test for a running service.
  const db = openDb({
    connection,
    applicationName: 'waxwing test',
    direct: isSame(server, direct) ? undefined : direct,
  })
  if (process.env.TEST_DATABASE_HOOK) await detectDistribution(db)
  const login = server.password ? `${server.user}:${encodeURIComponent(server.password)}` : server.user
  return {
    db,
    connection,
    url: `postgres://${login}@localhost/${database}?host=${encodeURIComponent(server.host)}&port=${server.port}`,
    [Symbol.asyncDispose]: async () => {
      await db.close()
      await databases.dropDatabase(directServer, database)
    },
  }
}

/** Opens the database several times, as other processes do. */
export const openAgain = ({ db, connection }: TestDb, times: number): Db[] =>
  Array.from({ length: times }, () =>
    Object.assign(openDb({ connection, connectionsMax: 2 }), { isDistributed: db.isDistributed }),
  )

const isSame = (a: TestServer, b: TestServer) => a.host === b.host && a.port === b.port

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
