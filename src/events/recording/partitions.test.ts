import { expect, test } from 'vitest'
import { createWorld, eventIn, record, storedCounts } from '../../../test/support/event-world.ts'
import { lockWaits } from '../../../test/support/lock-waits.ts'
import { startTestApp } from '../../../test/support/test-app.ts'
import { createTestDb } from '../../../test/support/test-db.ts'
import { until } from '../../../test/support/until.ts'
import { type Db, openDb } from '../../platform/db/db.ts'
import { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import { leastId } from '../../platform/values/ids.ts'
import { createPartition } from './partitions.sql.ts'
import { dropOldEvents, ensurePartitions } from './partitions.ts'
import { rebuildCounters } from './rebuild.ts'
import { derivedEventId, EventRecorder, recordEvents } from './record.ts'

const rowsByPartition = async (db: Db) => {
  // A node adds the number of the shard to the name of its table.
  const rows = await db<{ partition: string; count: number }>`
    select regexp_replace(tableoid::regclass::text, '_[0-9]{6,}$', '') as partition, count(*)
    from events group by 1 order by 1`
  return Object.fromEntries(rows.map(({ partition, count }) => [partition, count]))
}
const healthy = { countersDifferent: 0, firstsDifferent: 0 }
const november = new Date('2026-11-15T12:00:00Z')

test('this month and the next three get partitions, also across years, once', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const made = ['events_2026_11', 'events_2026_12', 'events_2027_01', 'events_2027_02']
  const results = await Promise.all([ensurePartitions(db, november), ensurePartitions(db, november)])
  expect(results.flat()).toEqual(made)
  expect(await ensurePartitions(db, november)).toEqual([])
  expect(await ensurePartitions(db, new Date('2026-12-01T00:00:00Z'))).toEqual(['events_2027_03'])
})

test('creating a partition is not limited by the timeout of requests', async () => {
  await using testDb = await createTestDb()
  const hasty = openDb({ connection: testDb.connection, statementTimeoutMs: 500 })
  hasty.isDistributed = testDb.db.isDistributed
  try {
    const busy = testDb.db.begin(async (tx) => {
      await tx`lock table events_default in access exclusive mode`
      await tx`select pg_sleep(1)`
    })
    await until(
      'the lock',
      async () => (await testDb.db`select from pg_locks where mode = 'AccessExclusiveLock' and granted`).length > 0,
    )
    expect(await ensurePartitions(hasty, november)).toHaveLength(4)
    await busy
  } finally {
    await hasty.close()
  }
})

test('an event is stored in the month of its id, or in the default partition', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  await ensurePartitions(db, november)
  const world = await createWorld(db)
  const at = [
    '2026-10-31T23:59:59.999Z',
    '2026-11-01T00:00:00.000Z',
    '2026-11-30T23:59:59.999Z',
    '2026-12-01T00:00:00.000Z',
    '2027-03-01T00:00:00.000Z',
  ]
  await record(
    db,
    at.map((time) => eventIn(world, 0, 'emailOpen', { at: time })),
  )
  expect(await rowsByPartition(db)).toEqual({ events_2026_11: 2, events_2026_12: 1, events_default: 2 })
})

test('a new partition receives its rows from the default partition, and duplicates are still detected', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const world = await createWorld(db)
  const early = ['2026-10-20', '2026-11-20', '2026-12-20'].map((at) => eventIn(world, 0, 'emailOpen', { at }))
  await record(db, early)
  await ensurePartitions(db, november)
  expect(await rowsByPartition(db)).toEqual({ events_2026_11: 1, events_2026_12: 1, events_default: 1 })
  expect(await record(db, early)).toEqual([])
})

const someoneWaits = (db: Db) => until('a statement waits for a lock', async () => (await lockWaits(db)).length > 0)

test('an event in flight while its partition is created is moved there', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const world = await createWorld(db)
  let making: Promise<string[]> | undefined
  await db.begin(async (tx) => {
    await recordEvents(tx, [eventIn(world, 0, 'emailOpen', { at: november })])
    making = ensurePartitions(db, november)
    await someoneWaits(db)
  })
  expect(await making).toHaveLength(4)
  expect(await rowsByPartition(db)).toEqual({ events_2026_11: 1 })
})

test('an event that waits for the lock is written there as well', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const world = await createWorld(db)
  const recorder = new EventRecorder({ db, stages: new StageRegistry() })
  let recording: Promise<boolean> | undefined
  await db.begin(async (tx) => {
    await tx.script('lock table events_default in access exclusive mode')
    recording = recorder.record(eventIn(world, 0, 'emailOpen', { at: november }))
    await someoneWaits(db)
    const [fromId, untilId] = [leastId('evt', Date.UTC(2026, 10)), leastId('evt', Date.UTC(2026, 11))] as const
    await createPartition(tx, { name: 'events_2026_11', fromId, untilId })
  })
  expect(await recording).toBe(true)
  expect(await rowsByPartition(db)).toEqual({ events_2026_11: 1 })
})

test('old months are dropped, counters are kept, and later events with an id of that month are kept', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const world = await createWorld(db, { messages: 2 })
  await ensurePartitions(db, new Date('2026-08-15'))
  const at = ['2026-07-20', '2026-08-20', '2026-09-20', '2026-10-20', '2026-11-14']
  const opens = at.map((time) => eventIn(world, 0, 'emailOpen', { at: time }))
  // A bounce in October for a message of August.
  const late = {
    ...eventIn(world, 1, 'emailSoftBounce', { at: '2026-10-21' }),
    id: derivedEventId(opens[1]!.id as never, 'bounce'),
  }
  await record(db, [...opens, late])
  const before = await storedCounts(db, world.organizationId, 'emailOpen')

  expect(await dropOldEvents(db, 1, november)).toEqual(['events_2026_08', 'events_2026_09'])
  const left = await db`select occurred_at::date::text as day, event_name from events order by occurred_at`
  expect(left).toEqual([
    { day: '2026-10-20', eventName: 'emailOpen' },
    { day: '2026-10-21', eventName: 'emailSoftBounce' },
    { day: '2026-11-14', eventName: 'emailOpen' },
  ])
  expect(await storedCounts(db, world.organizationId, 'emailOpen')).toEqual(before)
  expect(await record(db, [late])).toEqual([])
  expect(await dropOldEvents(db, 1, november)).toEqual([])
})

test('counters of dropped months are not compared, and earlier first opens stay counted', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const world = await createWorld(db, { messages: 2 })
  await ensurePartitions(db, new Date('2026-08-15'))
  await record(db, [
    eventIn(world, 0, 'emailOpen', { at: '2026-08-20' }),
    eventIn(world, 0, 'emailOpen', { at: '2026-11-10' }),
    eventIn(world, 1, 'emailOpen', { at: '2026-11-11' }),
  ])
  await dropOldEvents(db, 1, november)
  await record(db, [eventIn(world, 0, 'emailOpen', { at: '2026-11-12' })])
  expect(await rebuildCounters(db)).toMatchObject({ ...healthy, since: new Date('2026-10-01T00:00:00Z') })
  expect(await storedCounts(db, world.organizationId, 'emailOpen')).toEqual({ total: 4, unique: 2, machine: 0 })
})

test('the running service maintains the partitions', async () => {
  await using app = await startTestApp({ EVENT_RETENTION_MONTHS: '2' }, undefined, { started: false })
  const month = (offset: number) => {
    const now = new Date()
    return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + offset))
      .toISOString()
      .slice(0, 7)
      .replace('-', '_')
  }
  const names = await until('the partitions', async () => {
    const rows = await app.db<{ name: string }>`
      select inhrelid::regclass::text as name from pg_inherits where inhparent = 'events'::regclass order by 1`
    return rows.length === 5 && rows.map(({ name }) => name)
  })
  expect(names).toEqual([...[0, 1, 2, 3].map((offset) => `events_${month(offset)}`), 'events_default'])
  await until('the time since which events are kept', async () => (await app.db`select from events_kept`).length === 1)
})
