import { expect, test } from 'vitest'
import { click, createWorld, eventIn, record } from '../../../test/support/event-world.ts'
import { createTestDb, openAgain, type TestDb } from '../../../test/support/test-db.ts'
import { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import { addPendingCounts } from './pending-counts.ts'
import { rebuildCounters } from './rebuild.ts'
import { EventRecorder, recordEvents } from './record.ts'

const at = '2026-03-01T10:40:00Z'
const days = ({ db }: TestDb, kind: string) => db`
  select value, event_name, total, uniques, machine from flow_counters where kind = ${kind} and grain = 'day'
  order by event_name, value`

test('an event is counted by version, domain, link and bounce reason', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const world = await createWorld(db)
  const bounce = { type: 'soft' as const, status: null, reply_code: 452, reason: 'mailbox_full', diagnostic: null }
  await record(db, [
    eventIn(world, 0, 'emailSent', { at }),
    eventIn(world, 0, 'emailOpen', { at, machine: true }),
    click(world, 0, 'reset?token=9f8a7d6e5c4b3a2f1e0d', { at }),
    eventIn(world, 0, 'emailSoftBounce', { at, data: { bounce } }),
  ])
  const one = { total: 1, uniques: 1, machine: 0 }
  const all = (value: string) => [
    { value, eventName: 'emailClick', ...one },
    { value, eventName: 'emailOpen', total: 1, uniques: 0, machine: 1 },
    { value, eventName: 'emailReturned', ...one },
    { value, eventName: 'emailSent', ...one },
    { value, eventName: 'emailSoftBounce', ...one },
  ]
  expect(await days(testDb, 'version')).toEqual(all(world.flowIds[0]!))
  expect(await days(testDb, 'domain')).toEqual(all('example.com'))
  expect(await days(testDb, 'link')).toEqual([
    { value: 'https://shop.example/reset?token=…', eventName: 'emailClick', total: 1, uniques: 0, machine: 0 },
  ])
  expect(await days(testDb, 'reason')).toEqual([
    { value: 'mailbox_full', eventName: 'emailSoftBounce', total: 1, uniques: 0, machine: 0 },
  ])
})

test('the number of links counted on a day is limited; the others are counted together', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const world = await createWorld(db, { messages: 80 })
  const others = openAgain(testDb, 3)
  const recorders = others.map((each) => new EventRecorder({ db: each, stages: new StageRegistry() }))
  const clicks = world.messages.flatMap((_, index) =>
    [0, 1].map((day) =>
      click(world, index, `order/${index}`, {
        at: new Date(Date.parse(at) + day * 86_400_000),
      }),
    ),
  )
  await Promise.all(clicks.map((event, index) => recorders[index % 3]!.record(event)))
  // Known values are counted without a query, others together with the rest.
  await record(
    db,
    clicks.map((event) => click(world, 0, event.data.url!.slice(21), { at: event.occurredAt })),
  )

  await addPendingCounts(db)
  const stored = await db`
    select starts_at, count(*) filter (where value <> '') as links, sum(total)::int as total,
      sum(total) filter (where value = '')::int as other
    from flow_counters where kind = 'link' and grain = 'day' group by 1 order by 1`
  expect(stored).toEqual(
    [0, 1].map((day) => ({
      ...{ startsAt: new Date(Date.UTC(2026, 2, 1 + day)), links: 50, total: 160, other: 60 },
    })),
  )
  expect(await rebuildCounters(db)).toMatchObject({ countersDifferent: 0, firstsDifferent: 0 })
  await Promise.all(others.map((each) => each.close()))
})

test('values that were counted twice in a transaction that is rolled back are stored by the next one', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const world = await createWorld(db)
  const opens = () => eventIn(world, 0, 'emailOpen', { at })
  await db.begin(async (tx) => {
    await recordEvents(tx, [opens()])
    await recordEvents(tx, [opens()])
    return tx.rollback(undefined)
  })
  await record(db, [opens()])
  expect(await db`select kind, counted from flow_counter_values order by kind`).toEqual([
    { kind: 'domain', counted: ['example.com'] },
    { kind: 'version', counted: [world.flowIds[0]] },
  ])
})
