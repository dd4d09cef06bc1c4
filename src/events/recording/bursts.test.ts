import fc from 'fast-check'
import { expect, test } from 'vitest'
import { click, createWorld, eventIn, record, storedCounts, type World } from '../../../test/support/event-world.ts'
import { isPartOfBurst } from '../../../test/support/recount.ts'
import { createTestDb, openAgain, type TestDb } from '../../../test/support/test-db.ts'
import { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import { newId } from '../../platform/values/ids.ts'
import { labelAsMachine } from './bursts.sql.ts'
import { burstsOf } from './bursts.ts'
import { rebuildCounters } from './rebuild.ts'
import { EventRecorder } from './record.ts'

const start = Date.UTC(2026, 2, 1, 12)
const after = (ms: number) => new Date(start + ms)

async function labels({ db }: TestDb): Promise<[string, string | null][]> {
  const rows = await db<{ url: string; reason: string | null }>`
    select right(data ->> 'url', 1) as url, machine_reason as reason from events order by occurred_at`
  return rows.map(({ url, reason }) => [url, reason])
}

const healthy = { countersDifferent: 0, firstsDifferent: 0 }

test('a click is labelled once, also by processes that found the same burst', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const world = await createWorld(db)
  const one = click(world, 0, 'a', { at: after(0) })
  await record(db, [one])
  const label = () => db.begin((tx) => labelAsMachine(tx, one.organizationId, [one.id]))
  expect(await label()).toHaveLength(1)
  expect(await label()).toEqual([])
})

test('a burst is three links of a message within three seconds', () => {
  const world: World = {
    organizationId: newId('org'),
    flowIds: [newId('flw')],
    messages: [{ id: newId('msg'), flowId: newId('flw'), contactId: newId('con'), email: '' }],
  }
  const clicks = fc.array(
    fc.record({ ms: fc.integer({ min: 0, max: 12_000 }), link: fc.constantFrom('a', 'b', 'c', 'd') }),
  )
  fc.assert(
    fc.property(clicks, (list) => {
      const events = list.map(({ ms, link }) => click(world, 0, link, { at: after(ms) }))
      const expected = events.filter((event) => isPartOfBurst(event, events)).map(({ id }) => id)
      const found = burstsOf(events.map(({ id, occurredAt, data }) => ({ id, occurredAt, url: data.url ?? null })))
      expect(found.toSorted()).toEqual(expected.toSorted())
    }),
  )
})

test('the third link within three seconds relabels the two earlier clicks', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const world = await createWorld(db)
  await record(db, [click(world, 0, 'a', { at: after(0) })])
  await record(db, [click(world, 0, 'b', { at: after(1_400) })])
  expect(await storedCounts(db, world.organizationId, 'emailClick')).toEqual({ total: 2, unique: 1, machine: 0 })

  await record(db, [click(world, 0, 'c', { at: after(3_000) })])
  expect(await labels(testDb)).toEqual([
    ['a', 'burst'],
    ['b', 'burst'],
    ['c', 'burst'],
  ])
  for (const flowId of [undefined, world.flowIds[0]])
    expect(await storedCounts(db, world.organizationId, 'emailClick', flowId)).toEqual({
      total: 3,
      unique: 0,
      machine: 3,
    })
  expect(await rebuildCounters(db)).toMatchObject(healthy)
})

test('a click of a burst that is recorded again, together with a new one, stays labelled', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const world = await createWorld(db)
  const burst = ['a', 'b', 'c'].map((link, index) => click(world, 0, link, { at: after(index) }))
  await record(db, burst)
  const recorder = new EventRecorder({ db, stages: new StageRegistry() })
  const later = click(world, 0, 'a', { at: after(60_000) })
  expect(await Promise.all([burst[0]!, later].map((event) => recorder.record(event)))).toEqual([false, true])
  expect(await storedCounts(db, world.organizationId, 'emailClick')).toEqual({ total: 4, unique: 1, machine: 3 })
  expect(await rebuildCounters(db)).toMatchObject(healthy)
})

test('the first human click moves to the next one outside the burst', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const world = await createWorld(db)
  const later = click(world, 0, 'a', { at: after(26 * 60 * 60_000) })
  await record(db, [later])
  await record(
    db,
    ['a', 'b', 'c'].map((link, index) => click(world, 0, link, { at: after(index) })),
  )
  const firsts = await db`select occurred_at from first_occurrences where event_name = 'emailClick'`
  expect(firsts).toEqual([{ occurredAt: later.occurredAt }])
  const days = await db`
    select total, uniques, machine from event_counters
    where grain = 'day' and flow_id = ${world.flowIds[0]} order by starts_at`
  expect(days).toEqual([
    { total: 3, uniques: 0, machine: 3 },
    { total: 1, uniques: 1, machine: 0 },
  ])
})

test('two links, repeated clicks on one link, or three links over more than three seconds are human', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const world = await createWorld(db, { messages: 3 })
  await record(db, [
    ...[0, 10, 20, 30].map((ms) => click(world, 0, 'a', { at: after(ms) })),
    click(world, 0, 'b', { at: after(40) }),
    click(world, 1, 'a', { at: after(0) }),
    click(world, 1, 'b', { at: after(1_500) }),
    click(world, 1, 'c', { at: after(3_001) }),
    // Opens, and simultaneous clicks on another message, do not count.
    eventIn(world, 1, 'emailOpen', { at: after(100) }),
    click(world, 2, 'd', { at: after(1_500) }),
  ])
  expect(await db`select from events where machine`).toHaveLength(0)
})

test('a human click during the clicks of a known scanner stays human', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const world = await createWorld(db)
  await record(db, [click(world, 0, 'a', { at: after(0) })])
  await record(db, [
    click(world, 0, 'b', { at: after(1), machine: true }),
    click(world, 0, 'c', { at: after(2), machine: true }),
  ])
  expect(await labels(testDb)).toEqual([
    ['a', null],
    ['b', 'scanner'],
    ['c', 'scanner'],
  ])
})

test('later clicks close to a burst belong to it', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const world = await createWorld(db)
  for (const [index, link] of ['a', 'b', 'c', 'd', 'a'].entries())
    await record(db, [click(world, 0, link, { at: after(index * 700) })])
  await record(db, [click(world, 0, 'a', { at: after(60_000) })])
  expect(await labels(testDb)).toEqual([
    ['a', 'burst'],
    ['b', 'burst'],
    ['c', 'burst'],
    ['d', 'burst'],
    ['a', 'burst'],
    ['a', null],
  ])
  expect(await storedCounts(db, world.organizationId, 'emailClick')).toEqual({ total: 6, unique: 1, machine: 5 })
  expect(await rebuildCounters(db)).toMatchObject(healthy)
})

test('a burst recorded by concurrent processes is detected', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const world = await createWorld(db, { messages: 30 })
  const others = openAgain(testDb, 3)
  const recorders = others.map((each) => new EventRecorder({ db: each, stages: new StageRegistry() }))
  await Promise.all(
    world.messages.flatMap((_, index) =>
      ['a', 'b', 'c'].map((link, which) => recorders[which]!.record(click(world, index, link, { at: after(which) }))),
    ),
  )
  expect(await db`select from events where machine_reason = 'burst'`).toHaveLength(90)
  expect(await storedCounts(db, world.organizationId, 'emailClick')).toEqual({ total: 90, unique: 0, machine: 90 })
  expect(await rebuildCounters(db)).toMatchObject(healthy)
  await Promise.all(others.map((each) => each.close()))
})
