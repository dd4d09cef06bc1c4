import { expect, test } from 'vitest'
import { click, createWorld, eventIn, record, storedCounts } from '../../../test/support/event-world.ts'
import { createTestDb, type TestDb } from '../../../test/support/test-db.ts'
import { readMigrations } from '../../platform/db/migrate.ts'
import { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import { rebuildCounters } from './rebuild.ts'
import { EventRecorder } from './record.ts'

async function recorded({ db }: TestDb) {
  const world = await createWorld(db, { messages: 3, flows: 2 })
  await record(db, [
    ...[0, 1, 2].map((index) => eventIn(world, index, 'emailSent', { at: '2026-03-01T10:00:00Z' })),
    eventIn(world, 0, 'emailOpen', { at: '2026-03-01T10:20:00Z' }),
    eventIn(world, 1, 'emailOpen', { at: '2026-03-02T23:59:59Z', machine: true }),
    ...['a', 'b', 'c'].map((link) => click(world, 2, link, { at: '2026-03-01T11:00:00Z' })),
    eventIn(world, 1, 'contactUnsubscribe', { at: '2026-03-01T12:00:00Z', aboutContact: true }),
  ])
  return world
}

test('a healthy database has no differences', async () => {
  await using testDb = await createTestDb()
  await recorded(testDb)
  const report = await rebuildCounters(testDb.db)
  expect(report).toMatchObject({
    countersDifferent: 0,
    firstsDifferent: 0,
    differences: [],
    corrected: false,
    since: null,
  })
  expect(report.counters).toBeGreaterThan(20)
  expect(report.firsts).toBe(2)
})

test('an empty database has no differences', async () => {
  await using testDb = await createTestDb()
  expect(await rebuildCounters(testDb.db)).toMatchObject({ counters: 0, countersDifferent: 0, firstsDifferent: 0 })
})

const tamperings = {
  'a changed count': `update event_counters set total = total + 1 where event_name = 'emailOpen' and grain = 'quarter'`,
  'a changed unique': `update event_counters set uniques = uniques - 1 where event_name = 'emailSent' and grain = 'day'`,
  'a missing counter': `delete from event_counters where event_name = 'emailClick' and grain = 'quarter'`,
  'a counter of nothing': `insert into event_counters
    select organization_id, event_name, flow_id, grain, starts_at + interval '1 year', 1, 0, 0 from event_counters limit 1`,
  'a missing first occurrence': `delete from first_occurrences where event_name = 'emailOpen'`,
  'a moved first occurrence': `update first_occurrences set occurred_at = '2026-01-02T03:04:05Z'`,
  'a first occurrence of nothing': `insert into first_occurrences (organization_id, subject_id, event_name, occurred_at)
    select organization_id, gen_random_uuid(), event_name, occurred_at from first_occurrences limit 1`,
  'a changed count of a link': `update flow_counters set total = total + 1 where kind = 'link' and grain = 'day'`,
  'a missing count of a version': `delete from flow_counters where kind = 'version' and event_name = 'emailSent'`,
  'a relabelled event': `update events set machine = true where event_name = 'emailOpen'`,
}

for (const [what, statement] of Object.entries(tamperings)) {
  test(`${what} is found, described and corrected`, async () => {
    await using testDb = await createTestDb()
    const { db } = testDb
    await recorded(testDb)
    await db.statement.script(statement)
    const looked = await rebuildCounters(db, { correct: false })
    expect(looked.countersDifferent + looked.firstsDifferent).toBeGreaterThan(0)
    expect(looked.differences.length).toBe(looked.countersDifferent + looked.firstsDifferent)
    expect(looked.corrected).toBe(false)

    const corrected = await rebuildCounters(db)
    expect(corrected).toEqual({ ...looked, corrected: true })
    expect(await rebuildCounters(db)).toMatchObject({ countersDifferent: 0, firstsDifferent: 0, corrected: false })
  })
}

test('events from before the counters of flows are counted, with the most frequent values', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  await recorded(testDb)
  const before = await db`select * from flow_counters order by flow_id, grain, kind, starts_at, value, event_name`
  const counted = await db`select flow_id, kind, day from flow_counter_values order by flow_id, kind, day`
  await db.statement`delete from flow_counters`
  await db.statement`delete from flow_counter_values`
  expect(await rebuildCounters(db)).toMatchObject({ countersDifferent: before.length, corrected: true })
  expect(await db`select * from flow_counters order by flow_id, grain, kind, starts_at, value, event_name`).toEqual(
    before,
  )
  expect(await db`select flow_id, kind, day from flow_counter_values order by flow_id, kind, day`).toEqual(counted)
})

test('emails that bounced before that was counted are counted once: when they were sent, or else rejected', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const world = await recorded(testDb)
  const bounces = await createWorld(db, { organizationId: world.organizationId, messages: 2 })
  await record(db, [
    eventIn(world, 0, 'emailSoftBounce', { at: '2026-03-02T10:00:00Z' }),
    eventIn(world, 0, 'emailHardBounce', { at: '2026-03-03T10:00:00Z' }),
    ...[0, 1].map((index) => eventIn(bounces, index, 'emailSoftBounce', { at: '2026-03-04T10:00:00Z' })),
  ])
  await record(db, [eventIn(bounces, 1, 'emailHardBounce', { at: '2026-03-01T10:00:00Z' })])
  const stored = () => db<{ eventName: string; grain: string; kind: string; startsAt: Date; total: number }>`
    select flow_id, grain, '' as kind, '' as value, starts_at, event_name, total, uniques from event_counters
    where event_name in ('emailReturned', 'emailRejected') and total <> 0 and grain <> 'hour'
    union all
    select flow_id, grain, kind, value, starts_at, event_name, total, uniques from flow_counters
    where event_name in ('emailReturned', 'emailRejected') and total <> 0
    order by 1, 2, 3, 4, 5, 6`
  const before = await stored()
  const days = before.filter(({ grain, kind }) => grain === 'day' && kind === 'version')
  expect(days.map(({ eventName, startsAt, total }) => [eventName, startsAt.toISOString(), total]).sort()).toEqual([
    ['emailRejected', '2026-03-01T00:00:00.000Z', 1],
    ['emailRejected', '2026-03-04T00:00:00.000Z', 1],
    ['emailReturned', '2026-03-01T00:00:00.000Z', 1],
  ])
  await db.statement`delete from event_counters where event_name = 'emailRejected'`
  await db.statement`delete from flow_counters where event_name in ('emailReturned', 'emailRejected')`
  await db.statement.script(readMigrations().find(({ number }) => number === 240)!.text)
  expect(await stored()).toEqual(before)
  expect(await rebuildCounters(db)).toMatchObject({ countersDifferent: 0, firstsDifferent: 0 })
})

test('days with erased contacts are not compared by domain', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  await recorded(testDb)
  await db.statement`update messages set email = ''`
  expect(await rebuildCounters(db)).toMatchObject({ countersDifferent: 0, firstsDifferent: 0 })
})

test('events recorded during a rebuild are neither lost nor reported', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const world = await recorded(testDb)
  const recorder = new EventRecorder({ db, stages: new StageRegistry() })
  let going = true
  let count = 0
  const recording = (async () => {
    for (; going; count++)
      await recorder.record(eventIn(world, count % 3, 'emailSoftBounce', { at: '2026-03-01T10:00:00Z' }))
  })()
  const reports = [await rebuildCounters(db)]
  await db.statement`update event_counters set total = 0 where event_name = 'emailSent'`
  reports.push(await rebuildCounters(db), await rebuildCounters(db))
  going = false
  await recording
  expect(reports.map(({ countersDifferent, corrected }) => [countersDifferent > 0, corrected])).toEqual([
    [false, false],
    [true, true],
    [false, false],
  ])
  expect((await storedCounts(db, world.organizationId, 'emailSoftBounce')).total).toBe(count)
  expect(await rebuildCounters(db)).toMatchObject({ countersDifferent: 0, firstsDifferent: 0 })
})
