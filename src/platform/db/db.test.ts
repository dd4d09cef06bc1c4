import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { expect, expectTypeOf, test } from 'vitest'
import { connectToDatabase } from '../../../test/support/database-socket.ts'
import { createTestDb, type TestDb } from '../../../test/support/test-db.ts'
import { until } from '../../../test/support/until.ts'
import type { Actor } from '../values/actor.ts'
import { newId } from '../values/ids.ts'
import { type Db, isConnectionFault, openDb, type Tx, type Writer } from './db.ts'
import { isWritable } from './migrate.ts'

test('a single-statement writer is not accepted where a transaction is required', () => {
  expectTypeOf<Tx>().toExtend<Writer>()
  expectTypeOf<Writer>().not.toExtend<Tx>()
  expectTypeOf<Db>().not.toExtend<Writer>()
})

test('cancels a statement that exceeds its timeout, except in an unlimited transaction', async () => {
  await using testDb = await createTestDb()
  const db = openDb({ connection: testDb.connection, statementTimeoutMs: 200 })
  try {
    await expect(db`select pg_sleep(1)`).rejects.toThrow(/timeout/)
    await expect(db.begin((tx) => tx`select pg_sleep(1)`)).rejects.toThrow(/timeout/)
    const slept = await db.begin(
      async (tx) => {
        await tx.script('select pg_sleep(0.5)')
        return tx<{ done: boolean }>`select pg_sleep(0.5) is not null as done`
      },
      { unlimited: true },
    )
    expect(slept).toEqual([{ done: true }])
    // The connection has the default timeout again.
    await expect(db`select pg_sleep(1)`).rejects.toThrow(/timeout/)
  } finally {
    await db.close()
  }
})

test('waits for a statement as long as its own transaction allows', async () => {
  await using testDb = await createTestDb()
  const db = openDb({ connection: testDb.connection, statementTimeoutMs: 10 })
  try {
    // Longer than the client waits by default.
    const slept = db.begin((tx) => tx<{ done: boolean }>`select pg_sleep(6.5) is not null as done`, {
      statementTimeoutMs: 60_000,
    })
    expect(await slept).toEqual([{ done: true }])
  } finally {
    await db.close()
  }
})

test('cancels a statement in the server when the client stops waiting for it', async () => {
  await using testDb = await createTestDb()
  const db = openDb({ connection: testDb.connection, statementTimeoutMs: 100 })
  const running = () =>
    testDb.db<{ pid: number }>`
      select pid from pg_stat_activity where datname = current_database() and query like 'select pg_sleep(600)%'`
  try {
    const abandoned = db.begin(async (tx) => {
      await tx.script('set local statement_timeout = 0')
      tx.send`select pg_sleep(600)`
      // Waits behind it, and must not delay the end.
      tx.send`select 1`
    })
    await expect(abandoned).rejects.toThrow('Query read timeout')
    await until('the end of the statement', async () => (await running()).length === 0)
    expect(db.pool.totalCount).toBe(0)
  } finally {
    await db.close()
  }
})

test('parses times correctly whatever the DateStyle and TimeZone of the database', async () => {
  await using testDb = await createTestDb()
  const { database } = testDb.connection as { database: string }
  await testDb.db.statement.script(`
    alter database ${database} set datestyle = 'SQL, DMY';
    alter database ${database} set intervalstyle = 'iso_8601';
    alter database ${database} set timezone = 'America/New_York'`)
  const db = openDb({ connection: testDb.connection })
  try {
    const at = new Date('2026-03-04T05:06:07.890Z')
    // Daylight saving time begins in New York during this day.
    const [row] = await db<{ at: Date; nextDay: Date; length: string }>`
      select ${at}::timestamptz as at, '2026-03-07T12:00:00Z'::timestamptz + interval '1 day' as next_day,
        (interval '90 minutes')::text as length`
    expect(row).toEqual({ at, nextDay: new Date('2026-03-08T12:00:00Z'), length: '01:30:00' })
  } finally {
    await db.close()
  }
})

test('keeps the options in the URL beside our own', async () => {
  await using testDb = await createTestDb()
  const settingsAt = async (url: string) => {
    const db = openDb({ connection: { connectionString: url } })
    try {
      const names = ['TimeZone', 'jit', 'geqo', 'work_mem']
      const rows = await db<{ name: string; value: string }>`
        select name, current_setting(name) as value from unnest(${names}::text[]) as name`
      return Object.fromEntries(rows.map(({ name, value }) => [name, value]))
    } finally {
      await db.close()
    }
  }
  expect(await settingsAt(testDb.url)).toMatchObject({ TimeZone: 'UTC', jit: 'off', geqo: 'on' })
  const theirs = { TimeZone: 'UTC', jit: 'off', geqo: 'off', work_mem: '7MB' }
  expect(await settingsAt(`${testDb.url}&options=-c%20geqo%3Doff+-c+work_mem%3D7MB`)).toEqual(theirs)
  expect(await settingsAt(testDb.url.replace('?', '?options=-c geqo=off -c work_mem=7MB&'))).toEqual(theirs)
})

test('replaces a connection lost during `listen` once, and leaves none open after the end', async () => {
  await using testDb = await createTestDb()
  await using proxy = await startListenCutter(testDb.connection as { host: string; port: number })
  const db = openDb({
    connection: { ...testDb.connection, host: '127.0.0.1', port: proxy.port } as TestDb['connection'],
  })
  try {
    let heard = 0
    const listening = await db.listen('news', () => heard++)
    await until('the notification', async () => {
      await testDb.db`select pg_notify('news', '')`
      return heard > 0
    })
    // Long enough for a second connection to be opened.
    await sleep(500)
    expect(proxy.open()).toBe(1)
    await listening.stop()
    await until('the end of the connection', () => proxy.open() === 0)
  } finally {
    await db.close()
  }
})

/** A proxy that breaks the first connection that executes `listen`. */
async function startListenCutter({ host, port }: { host: string; port: number }) {
  const open = new Set<object>()
  let cut = false
  const server = createServer((near) => {
    const far = connectToDatabase({ host, port })
    open.add(near)
    near.on('data', (bytes) => {
      if (cut || !bytes.includes('listen')) return far.write(bytes)
      cut = true
      return near.destroy()
    })
    far.on('data', (bytes) => near.write(bytes))
    for (const socket of [near, far])
      socket
        .on('error', () => {})
        .on('close', () => {
          open.delete(near)
          near.destroy()
          far.destroy()
        })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    open: () => open.size,
    [Symbol.asyncDispose]: async () => {
      server.close()
    },
  }
}

test('closes read-only connections, so that the next statements can write when the database can', async () => {
  await using testDb = await createTestDb()
  const { database } = testDb.connection as { database: string }
  await testDb.db.statement.script(`alter database ${database} set default_transaction_read_only = on`)
  const db = openDb({ connection: testDb.connection, connectionsMax: 1 })
  try {
    const write = () => db.statement`delete from sending_pause`
    const writeInTransaction = () => db.begin((tx) => Promise.resolve(tx.send`delete from sending_pause`))
    await expect(write()).rejects.toMatchObject({ code: '25006' })
    await expect(writeInTransaction()).rejects.toMatchObject({ code: '25006' })
    expect(await isWritable(db)).toBe(false)
    // A connection that was opened while the database was read-only.
    await db`select 1`
    await testDb.db.statement.script(
      `set default_transaction_read_only = off; alter database ${database} reset default_transaction_read_only`,
    )
    expect(await isWritable(db)).toBe(false)
    expect(await isWritable(db)).toBe(true)
    await write()
    await writeInTransaction()
  } finally {
    await db.close()
  }
})

test('distinguishes connection errors from statement errors', async () => {
  const faultOf = (code: string) => Object.assign(new Error(code), { code })
  const network = [
    'EHOSTUNREACH',
    'ENETUNREACH',
    'EHOSTDOWN',
    'ENETDOWN',
    'EADDRNOTAVAIL',
    'EAGAIN',
    'EMFILE',
    'ENFILE',
  ]
  for (const code of [...network, '25P03', '57P01', '53300', '58030'])
    expect([code, isConnectionFault(faultOf(code))]).toEqual([code, true])
  expect(isConnectionFault(new AggregateError([faultOf('ENETUNREACH')]))).toBe(true)
  for (const code of ['22P02', '23505', '42P01', '40001', 'EACCES'])
    expect([code, isConnectionFault(faultOf(code))]).toEqual([code, false])
  const onNode = (message: string) =>
    Object.assign(new Error(message), { code: 'XX000', where: 'while executing command on 10.0.0.7:5432' })
  expect(isConnectionFault(onNode('SSL SYSCALL error: EOF detected'))).toBe(true)
  expect(isConnectionFault(onNode('duplicate key value violates unique constraint'))).toBe(false)
  // ENOTDIR: a path through a file, which is not in the list of codes.
  const db = openDb({ connection: { host: '/dev/null', port: 5432, user: 'nobody', database: 'none' } })
  const error = await db`select 1`.catch((error: unknown) => error)
  await db.close()
  expect(error).toMatchObject({ code: 'ENOTDIR', syscall: 'connect' })
  expect(isConnectionFault(error)).toBe(true)
})

test('a statement that was sent without waiting and fails rolls the transaction back and is the error', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  await db.statement.script('create table numbers (n integer primary key)')
  const insert = (tx: Tx, n: number) => tx.send`insert into numbers (n) values (${n})`
  const unique = expect.objectContaining({ code: '23505' })
  // With the commit, before another statement, and before an error of the caller.
  const twice = async (tx: Tx) => {
    insert(tx, 1)
    insert(tx, 1)
  }
  await expect(db.begin(twice)).rejects.toEqual(unique)
  await expect(
    db.begin(async (tx) => {
      await twice(tx)
      await tx`select 1`
    }),
  ).rejects.toEqual(unique)
  const refused = new Error('refused')
  await expect(
    db.begin(async (tx) => {
      insert(tx, 1)
      throw refused
    }),
  ).rejects.toBe(refused)
  expect(await db`select n from numbers`).toEqual([])

  await db.begin(async (tx) => {
    insert(tx, 1)
    insert(tx, 2)
  })
  expect(await db`select n from numbers order by n`).toEqual([{ n: 1 }, { n: 2 }])
})

test('a transaction that is rolled back returns a value, changes nothing and announces nothing', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const announced: unknown[] = []
  db.onAnnouncement((value) => announced.push(value))
  await db.statement`create table marks (name text primary key)`
  const result = await db.begin(async (tx) => {
    tx.send`insert into marks values ('sent')`
    await tx`insert into marks values ('written')`
    tx.announce('written')
    // A statement that fails as well does not matter any more.
    tx.send`insert into marks values ('written')`
    return tx.rollback('not now')
  })
  expect([result, announced, await db`select from marks`]).toEqual(['not now', [], []])
  await db.begin((tx) => tx`insert into marks values ('next')`)
  expect(await db`select name from marks`).toEqual([{ name: 'next' }])
})

test('the first error of a transaction is thrown, whichever statement is awaited', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  await db.statement.script(`
    create table numbers (n integer);
    create function fill_disk() returns integer language plpgsql as
      $$ begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`)
  const isFull = expect.objectContaining({ code: '53100' })
  const awaitingTheNext = async (tx: Tx) => {
    tx`insert into numbers values (fill_disk())`.catch(() => {})
    await tx`insert into numbers values (1)`
  }
  await expect(db.begin(awaitingTheNext)).rejects.toEqual(isFull)
  // Otherwise the commit would seem to have succeeded, although it was a rollback.
  const awaitingNone = async (tx: Tx) => {
    await tx`insert into numbers values (1)`
    await tx`insert into numbers values (fill_disk())`.catch(() => {})
  }
  await expect(db.begin(awaitingNone)).rejects.toEqual(isFull)
  expect(await db`select n from numbers`).toEqual([])
})

test('a transaction has the actor on whose behalf it was begun, and the service is the actor of all others', async () => {
  await using testDb = await createTestDb()
  const actor: Actor = { type: 'api_key', id: newId('key') }
  const actorOf = (db: Pick<Db, 'begin'>) => db.begin(async (tx) => tx.actor)
  expect(await actorOf(testDb.db.by(actor))).toEqual(actor)
  expect(await actorOf(testDb.db)).toEqual({ type: 'system', id: null })
})

test('a lost connection does not hide the error of an earlier statement', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  await db.statement.script('create table numbers (n integer primary key)')
  const terminated = db.begin(async (tx) => {
    tx.send`select pg_terminate_backend(pg_backend_pid())`
    await tx`insert into numbers values (1)`
  })
  await expect(terminated).rejects.toMatchObject({ code: '57P01' })

  const clients: pg.PoolClient[] = []
  db.pool.on('acquire', (client) => clients.push(client))
  const commitOnLostConnection = (n: number) =>
    db.begin(async (tx) => {
      await tx`insert into numbers values (${n})`.catch(() => {})
      ;(clients.at(-1) as unknown as { connection: { stream: Socket } }).connection.stream.destroy()
    })
  // Whether this is committed is unknown.
  const unknown = await commitOnLostConnection(2).catch((error: unknown) => error)
  expect(isConnectionFault(unknown)).toBe(true)
  // This cannot be.
  await db.statement`insert into numbers values (3)`
  await expect(commitOnLostConnection(3)).rejects.toMatchObject({ code: '23505' })
})
