import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startDatabaseProxy } from '../../../test/support/database-proxy.ts'
import { failureLog } from '../../../test/support/failure-log.ts'
import { type ReplicaPair, startReplicaPair } from '../../../test/support/replica.ts'
import { startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { readFeed } from '../../events/feed/feed.ts'
import { Stage } from '../runtime/stage.ts'
import { newId } from '../values/ids.ts'
import { createBoundedRead } from './bounded-read.ts'
import { type Db, openDb, type Reader } from './db.ts'
import { migrate } from './migrate.ts'
import { Replica } from './replica.ts'
import { checkReplica } from './replica-check.ts'

const log = pino({ level: 'silent' })
const lagMaxMs = 1_000

let pair: ReplicaPair
let primary: Db
let replicaDb: Db
beforeAll(async () => {
  pair = await startReplicaPair()
  primary = openDb({ connection: pair.primary.connection })
  replicaDb = openDb({ connection: pair.replica.connection })
  await migrate(primary)
})
afterAll(async () => {
  await Promise.all([primary.close(), replicaDb.close()])
  await pair[Symbol.asyncDispose]()
})

const pauseReplay = () => replicaDb`select pg_wal_replay_pause()`
const resumeReplay = () => replicaDb`select pg_wal_replay_resume()`
const isOnReplica = async (db: Reader) => {
  const [row] = await db<{ onReplica: boolean }>`select pg_is_in_recovery() as on_replica`
  return row!.onReplica
}

/** A read of an organization: true if it ran on the replica. */
function startReads(replicaOfReads = replicaDb, replicaLagMaxMs = lagMaxMs) {
  const replica = new Replica({
    primary,
    replica: replicaOfReads,
    lagMaxMs: replicaLagMaxMs,
    log,
    failures: failureLog(log),
  })
  const stage = new Stage({ perOrganization: 5, overall: 5, waitingPerOrganization: 5, waitMs: 60_000 })
  const read = createBoundedRead(primary, stage, { replica })
  replica.start()
  const readsFromReplica = (organizationId = newId('org')) => read(organizationId, isOnReplica)
  return { replica, readsFromReplica, [Symbol.asyncDispose]: () => replica.stop() }
}

test('reads from the replica while it is recent, and from the primary while it is too far behind', async () => {
  await using reads = startReads()
  await until('the replica to be used', () => reads.readsFromReplica())
  await pauseReplay()
  try {
    // An idle primary writes nothing that the replica could miss.
    await primary`select pg_switch_wal()`
    await primary.statement.script('create table if not exists noise (n int); insert into noise values (1)')
    await until('the primary to be used', async () => !(await reads.readsFromReplica()))
    expect(reads.replica.lagMs).toBeGreaterThan(lagMaxMs)
  } finally {
    await resumeReplay()
  }
  await until('the replica to be used again', () => reads.readsFromReplica())
  await until('the replica to be recent', () => reads.replica.lagMs <= lagMaxMs)
})

test('an organization reads its own writes', async () => {
  // On a busy machine, the replica can be a second behind at any time.
  await using reads = startReads(replicaDb, 60 * lagMaxMs)
  const [writer, other] = [newId('org'), newId('org')]
  await until('the replica to be used', () => reads.readsFromReplica(writer))
  reads.replica.noteWrite(writer)
  expect([await reads.readsFromReplica(writer), await reads.readsFromReplica(other)]).toEqual([false, true])
  await until('the replica to have the write', () => reads.readsFromReplica(writer))
})

test('a read that needs newer data than the replica has is repeated on the primary', async () => {
  await using reads = startReads(replicaDb, 60 * lagMaxMs)
  const stage = new Stage({ perOrganization: 1, overall: 1, waitingPerOrganization: 0, waitMs: 0 })
  const read = createBoundedRead(primary, stage, { replica: reads.replica })
  await until('the replica to be used', () => read(newId('org'), isOnReplica))
  await pauseReplay()
  try {
    await primary.statement`select pg_current_xact_id()`
    const organizationId = newId('org')
    const { cursor } = await primary.begin((tx) => readFeed(tx, organizationId, { after: 'latest', limit: 1 }))
    const places: boolean[] = []
    const page = await read(organizationId, async (db) => {
      places.push(await isOnReplica(db))
      return readFeed(db, organizationId, { after: cursor, limit: 1 })
    })
    expect([places, page.events]).toEqual([[true, false], []])
  } finally {
    await resumeReplay()
  }
})

test('reads from the primary at once if the replica cannot be reached', async () => {
  await using proxy = await startDatabaseProxy(pair.replica.connection)
  const behindProxy = openDb({ connection: { ...pair.replica.connection, ...proxy.connection } })
  try {
    await using reads = startReads(behindProxy)
    await until('the replica to be used', () => reads.readsFromReplica())
    await proxy.cut()
    expect(await reads.readsFromReplica()).toBe(false)
  } finally {
    await behindProxy.close()
  }
})

test('does not use a server that is no replica, for example after it was promoted', async () => {
  await using reads = startReads(primary)
  const [before] = await comparisons()
  await until('a comparison', async () => (await comparisons())[0]!.count > before!.count + 5)
  expect(reads.replica.find(newId('org'))).toBeUndefined()
})

const comparisons = () =>
  primary<{ count: number }>`
    select xact_commit as count from pg_stat_database where datname = current_database()`

test('the service lists from the replica what it has just stored', async () => {
  await using app: TestApp = await startTestApp({}, ['serve'], {
    tuning: { replicaLagMsMax: 1_000 },
    openFor: () => openDb({ connection: pair.primary.connection }),
    replica: replicaDb,
    // The organization is registered in this database, which is no copy of the template.
    started: false,
  })
  for (let n = 0; n < 20; n++) {
    const name = `Group ${n}`
    expect(await app.manage('POST', '/organization/groups', { name })).toMatchObject({ status: 201 })
    const listed = await app.manage('GET', `/organization/groups`)
    expect(listed.body.data.map((group: { name: string }) => group.name)).toContain(name)
  }
  const readsOfReplica = async () => {
    const [row] = await replicaDb<{ count: number }>`
      select xact_commit as count from pg_stat_database where datname = current_database()`
    return row!.count
  }
  const before = await readsOfReplica()
  await until('a list to be read from the replica', async () => {
    await app.manage('GET', '/organization/groups')
    return (await readsOfReplica()) > before + 5
  })
})

test('a check of the replica finds whether it has the data of the primary', async () => {
  const check = (replica: Db, withinMs = 300) => checkReplica(primary, replica, withinMs)
  expect(await check(replicaDb, 60_000)).toMatchObject({ kind: 'current' })
  await pauseReplay()
  try {
    await primary.statement.script('create table if not exists noise (n int); insert into noise values (1)')
    expect(await check(replicaDb)).toEqual({ kind: 'behind', bytes: expect.any(Number) })
  } finally {
    await resumeReplay()
  }
  expect(await check(primary)).toEqual({ kind: 'promoted' })
  const nobody = openDb({ connection: { ...pair.replica.connection, port: 1 } })
  expect(await check(nobody)).toMatchObject({ kind: 'unreachable' })
  await nobody.close()
})
