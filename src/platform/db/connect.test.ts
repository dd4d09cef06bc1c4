import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { type Embedded, startEmbedded } from '@waxwing/embedded-postgres'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { localhost } from '../../../test/support/certificates.ts'
import { newFolder } from '../../../test/support/command.ts'
import { startDatabaseTls } from '../../../test/support/database-tls.ts'
import { ownServerTest } from '../../../test/support/server-tests.ts'
import { createGuest, createTestDb, type TestDb } from '../../../test/support/test-db.ts'
import { until } from '../../../test/support/until.ts'
import { readConfig } from '../config/config.ts'
import { SetupFault } from '../values/errors.ts'
import { openDatabase } from './connect.ts'
import { openDb } from './db.ts'

const log = pino({ level: 'silent' })
const caFile = join(import.meta.dirname, '../../../test/support/certificates/ca.pem')

type Server = { host: string; port: number; user: string; database: string }
const serverOf = ({ connection }: TestDb | Embedded) => connection as Server
const urlOf = ({ host, port }: Server, login: string, database: string, more = '') =>
  `postgres://${login}@localhost/${database}?host=${encodeURIComponent(host)}&port=${port}${more}`

const open = (url: string) => openDatabase({ url, dataDir: '/nowhere', connectionsMax: 1, log, mayCreate: true })

async function descriptionOf(url: string): Promise<string> {
  const { description, close } = await open(url)
  await close()
  return description
}

/** Returns the error message for a URL without a usable database. */
async function complaint(url: string): Promise<string> {
  const error = await descriptionOf(url).catch((error: unknown) => error)
  expect(error, String((error as Error).stack)).toBeInstanceOf(SetupFault)
  const { message } = error as SetupFault
  expect(message).toContain('DATABASE_URL')
  expect(message).not.toContain('hunter2')
  return message
}

test('hides passwords everywhere in the URL', async () => {
  await using testDb = await createTestDb({ empty: true })
  const { host, port, user, database } = serverOf(testDb)
  const description = await descriptionOf(urlOf(serverOf(testDb), `${user}:hunter2`, database))
  expect(description).toContain(`${user}:********@`)
  expect(description).not.toContain('hunter2')
  const parameters = `host=${host}&port=${port}&user=${user}`
  for (const name of ['password', 'p%61ssword']) {
    const shown = await descriptionOf(`postgres:///${database}?${parameters}&${name}=hunter2&geqo=on`)
    expect(shown).toMatch(/password=\*{8}&geqo=on$/)
    expect(shown).not.toContain('hunter2')
  }
})

test('connects to a URL with its host as a parameter', async () => {
  await using testDb = await createTestDb({ empty: true })
  const { host, port, user, database } = serverOf(testDb)
  const { DATABASE_URL } = readConfig({ DATABASE_URL: `postgres://${user}@/${database}?host=${host}&port=${port}` })
  expect(await descriptionOf(DATABASE_URL!)).toContain(`/${database}?host=${host}`)
})

test('explains what to do if the user or the database does not exist', async () => {
  await using testDb = await createTestDb({ empty: true })
  const server = serverOf(testDb)
  expect(await complaint(urlOf(server, 'nobody_here', server.database))).toMatch(/role "nobody_here" does not exist/)
  expect(await complaint(urlOf(server, server.user, 'none_here'))).toMatch(
    /database "none_here" does not exist.*create/i,
  )
})

test('distinguishes a wrong password from a missing one', async () => {
  using folder = newFolder()
  const embedded = await startEmbedded({ dataDir: folder.path, log })
  try {
    const server = serverOf(embedded)
    await askForPasswords(embedded)
    expect(await complaint(urlOf(server, 'wax:hunter2', server.database))).toMatch(/password authentication failed/)
    expect(await complaint(urlOf(server, 'wax', server.database))).toMatch(/requires a password/)
    expect(await descriptionOf(urlOf(server, 'wax:right', server.database))).toContain('wax:********@')
  } finally {
    await embedded.stop()
  }
})

/** Creates the superuser `wax` with the password `right`. */
async function askForPasswords({ connection, directory }: Embedded): Promise<void> {
  const admin = openDb({ connection, connectionsMax: 1 })
  try {
    await admin.statement.script("create role wax superuser login password 'right'")
    const file = join(directory, 'pg_hba.conf')
    writeFileSync(file, `local all wax scram-sha-256\n${readFileSync(file, 'utf8')}`)
    const loadedAt = async () => (await admin<{ at: Date }>`select pg_conf_load_time() as at`)[0]!.at.getTime()
    const before = await loadedAt()
    await admin`select pg_reload_conf()`
    await until('the server to reload pg_hba.conf', async () => (await loadedAt()) > before)
  } finally {
    await admin.close()
  }
}

test('rejects a user without the privilege to create tables', async () => {
  await using testDb = await createTestDb({ empty: true })
  await using guest = await createGuest(testDb)
  const { database } = serverOf(testDb)
  expect(await descriptionOf(guest.url)).toContain(database)
  expect(await complaint(`${guest.url}&options=-c%20search_path%3Dnone`)).toMatch(/search_path/)
  await testDb.db.statement.script(`revoke create on schema public from ${database}_guest`)
  expect(await complaint(guest.url)).toContain(`grant create on schema public to ${database}_guest`)
  await testDb.db.statement.script(`revoke connect on database ${database} from public`)
  expect(await complaint(guest.url)).toMatch(/permission denied for database/)
})

test.each(['LATIN1', 'SQL_ASCII'])('rejects a database with the encoding %s', async (encoding) => {
  await using testDb = await createTestDb({ empty: true })
  const server = serverOf(testDb)
  const database = `${server.database}_old`
  await testDb.db.statement.script(
    `create database ${database} encoding '${encoding}' template template0 lc_collate 'C' lc_ctype 'C'`,
  )
  try {
    expect(await complaint(urlOf(server, server.user, database))).toMatch(`this one has ${encoding}`)
  } finally {
    await testDb.db.statement.script(`drop database ${database} with (force)`)
  }
})

ownServerTest('explains what to do if the URL requires TLS and the database does not support it', async () => {
  await using testDb = await createTestDb({ empty: true })
  const server = serverOf(testDb)
  const url = urlOf(server, server.user, server.database, '&sslmode=verify-full')
  expect(await complaint(url)).toContain('sslmode=disable')
})

test('names two solutions for an untrusted certificate, and both work', async () => {
  await using testDb = await createTestDb({ empty: true })
  const { user, database } = serverOf(testDb)
  await using tls = await startDatabaseTls(serverOf(testDb), localhost())
  const url = `postgres://${user}@127.0.0.1:${tls.port}/${database}?sslmode`
  const message = await complaint(`${url}=verify-full`)
  expect(message).toContain('sslrootcert')
  expect(message).toContain('sslmode=no-verify')
  expect(await descriptionOf(`${url}=verify-full&sslrootcert=${caFile}`)).toContain(database)
  expect(await descriptionOf(`${url}=no-verify`)).toContain(database)
  expect(await complaint(`${url}=verify-full&sslrootcert=/none.pem`)).toMatch(/\/none\.pem/)
})

test('waits for a database that cannot be reached', async () => {
  const logged: string[] = []
  const stopping = new AbortController()
  const opening = openDatabase({
    url: 'postgres://nobody@localhost/none?host=%2Fdev%2Fnull',
    dataDir: '/nowhere',
    connectionsMax: 1,
    log: pino({}, { write: (line) => logged.push(JSON.parse(line).msg) }),
    signal: stopping.signal,
  })
  opening.catch(() => {})
  await until('two attempts', () => logged.length > 1)
  stopping.abort()
  await expect(opening).rejects.toThrow('aborted')
  expect(new Set(logged)).toEqual(new Set(['Database unreachable; retrying']))
})

test('names the version of PgBouncer that is needed if it rejects our settings', async () => {
  // The answer of PgBouncer 1.18 to the first packet of a connection.
  const fields = ['SFATAL', 'C08P01', 'Munsupported startup parameter: options', '']
  const body = Buffer.from(`${fields.join('\0')}\0`)
  const length = Buffer.alloc(4)
  length.writeInt32BE(body.length + length.length)
  const server = createServer((socket) =>
    socket.once('data', () => socket.end(Buffer.concat([Buffer.from('E'), length, body]))),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  try {
    expect(await complaint(`postgres://user@127.0.0.1:${port}/waxwing`)).toMatch(/PgBouncer 1\.21 or newer is needed/)
  } finally {
    server.close()
  }
})
