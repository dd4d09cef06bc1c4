import { randomBytes } from 'node:crypto'
import { inject } from 'vitest'
import { type Connection, type Db, openDb } from '../../src/db/db.ts'
import { templateDatabase } from './global-setup.ts'

export type TestDb = AsyncDisposable & { db: Db; connection: Connection & object; url: string }

/** A migrated database of the test's own. */
export async function createTestDb({ empty = false } = {}): Promise<TestDb> {
  const server = inject('postgres')
  const database = `test_${randomBytes(6).toString('hex')}`
  await inServer(`create database ${database} template ${empty ? 'template0' : templateDatabase}`)
  const connection = { ...server, database }
  const db = openDb({ connection })
  return {
    db,
    connection,
    url: `postgres://${server.user}@localhost/${database}?host=${encodeURIComponent(server.host)}&port=${server.port}`,
    [Symbol.asyncDispose]: async () => {
      await db.close()
      await inServer(`drop database ${database} with (force)`)
    },
  }
}

async function inServer(statement: string): Promise<void> {
  const admin = openDb({ connection: inject('postgres'), connectionsMax: 1 })
  try {
    await admin.alone.script(statement)
  } finally {
    await admin.close()
  }
}
