import fc from 'fast-check'
import { expect, test } from 'vitest'
import { click, createWorld, eventIdAt, eventIn, record, type World } from '../../../test/support/event-world.ts'
import { recountDays, recountFlow, recountLinks, settled, withOutcomes } from '../../../test/support/recount.ts'
import { createTestDb } from '../../../test/support/test-db.ts'
import { getFlowResults } from '../../engagement/reports/flow-results.ts'
import { emailEventMetric } from '../../engagement/reports/metrics.ts'
import type { Db } from '../../platform/db/db.ts'
import { type EventName, eventNames } from '../../platform/values/event-types.ts'
import type { FlowId } from '../../platform/values/ids.ts'
import { rebuildCounters } from './rebuild.ts'
import { derivedEventId, type NewEvent } from './record.ts'

// Random events in random order and batches, some of them twice, must match a plain recount in every zone, across
// midnight and clock changes.

const hourMs = 60 * 60_000
const messages = 3

/** Days on which clocks change, and where: also at midnight, and by half an hour. */
const changes = [
  { date: '2026-03-29', where: 'Europe/Berlin' },
  { date: '2026-10-25', where: 'Europe/Berlin' },
  { date: '2026-11-01', where: 'America/Los_Angeles' },
  { date: '2026-03-08', where: 'America/Havana' },
  { date: '2026-04-05', where: 'Australia/Lord_Howe' },
  { date: '2026-10-04', where: 'Australia/Lord_Howe' },
  { date: '2026-04-05', where: 'Pacific/Chatham' },
  { date: '2026-09-27', where: 'Pacific/Auckland' },
  { date: '2026-04-24', where: 'Africa/Cairo' },
  { date: '2026-10-30', where: 'Africa/Cairo' },
]
const zones = ['UTC', 'Asia/Kolkata', 'Asia/Kathmandu', 'Pacific/Apia', 'America/St_Johns', 'Europe/London']

type Draft = {
  message: number
  name: EventName
  hours: number
  ms: number
  machine: boolean
  link: string
  alone: boolean
}

/** Quarters of an hour around the change. */
const hours = fc.integer({ min: -120, max: 120 }).map((quarters) => quarters / 4)
const draft: fc.Arbitrary<Draft> = fc.record({
  message: fc.nat(messages - 1),
  name: fc.constantFrom(
    'emailOpen',
    'emailClick',
    'emailSent',
    'emailSoftBounce',
    'emailHardBounce',
    'contactUnsubscribe',
  ),
  hours,
  ms: fc.constantFrom(-1_000, -1, 0, 1, 2_000, 5_000),
  machine: fc.nat(3).map((number) => number === 0),
  link: fc.constantFrom('a', 'b', 'c'),
  alone: fc.boolean(),
})
/** Clicks on several links in quick succession, which may or may not be a burst. */
const spree: fc.Arbitrary<Draft[]> = fc
  .record({ message: fc.nat(messages - 1), hours, gap: fc.integer({ min: 0, max: 2_000 }), links: fc.nat(4) })
  .map(({ message, hours, gap, links }) =>
    ['a', 'b', 'c', 'd'].slice(0, links).map((link, index) => ({
      ...{ message, name: 'emailClick' as const, hours, ms: index * gap, machine: false, link, alone: false },
    })),
  )

const history = fc.record({
  change: fc.constantFrom(...changes),
  drafts: fc.array(fc.oneof({ weight: 5, arbitrary: draft.map((one) => [one]) }, spree), {
    maxLength: 24,
    size: 'max',
  }),
  /** Which events come twice, and in which order and batches all of them come. */
  again: fc.array(fc.nat(40), { maxLength: 10 }),
  order: fc.array(fc.nat(), { minLength: 120, maxLength: 120 }),
  batch: fc.integer({ min: 1, max: 50 }),
  zone: fc.constantFrom(...zones),
})

function eventOf(world: World, date: string, { message, name, hours, ms, machine, link, alone }: Draft): NewEvent {
  const midnight = Date.parse(`${date}T00:00:00Z`)
  const at = new Date(midnight + hours * hourMs + ms)
  if (name === 'emailClick') return click(world, message, link, { at, machine })
  if (name === 'contactUnsubscribe') return eventIn(world, message, name, { at, aboutContact: alone })
  const { id: messageId } = world.messages[message]!
  if (name === 'emailSent') {
    const sentAt = new Date(midnight + (message - 1) * 12 * hourMs)
    return eventIn(world, message, name, { at: sentAt, id: derivedEventId(messageId, 'sent') })
  }
  // The id of a bounce contains the time of its message, however late the bounce arrives.
  const id = name === 'emailOpen' ? eventIdAt(at) : derivedEventId(messageId, `${name} ${hours} ${ms}`)
  const type = name === 'emailHardBounce' ? ('hard' as const) : ('soft' as const)
  const bounce = { type, status: null, reply_code: null, reason: `reason ${link}`, diagnostic: null }
  const data = name.endsWith('Bounce') ? { bounce } : {}
  return eventIn(world, message, name, { at, id, machine: machine && name === 'emailOpen', data })
}

/** What is counted of flows, by UTC day and by quarter of an hour, without rows of zeros. */
async function expectSameFlowCounters(db: Db, world: World, events: ReturnType<typeof withOutcomes>) {
  const rows = await db<{ flowId: string; grain: 'day' | 'quarter'; startsAt: Date; total: number }>`
    select flow_id, grain, kind, starts_at, value, event_name, total, uniques as unique, machine from flow_counters
    where organization_id = ${world.organizationId} and (total, uniques, machine) <> (0, 0, 0)`
  const byKey = ({ startsAt, total, unique, machine, ...key }: Record<string, unknown>) => [
    JSON.stringify({ ...key, startsAt }, Object.keys({ ...key, startsAt }).sort()),
    { total, unique, machine },
  ]
  const expected = recountFlow(events, world)
  expect(Object.fromEntries(rows.map(byKey))).toEqual(Object.fromEntries(expected.map(byKey)))
}

async function expectSameLinks(db: Db, world: World, events: ReturnType<typeof withOutcomes>, date: string) {
  const flowId = world.flowIds[0]!
  const startDate = new Date(Date.parse(date) - 7 * 24 * hourMs).toISOString().slice(0, 10)
  const period = { startDate, endDate: date, timezone: 'UTC', days: 14 }
  const { links } = await getFlowResults((id, work) => work(db, id), world.organizationId, { flowId, period })
  expect(new Map(links.map(({ value, messages }) => [value, messages]))).toEqual(recountLinks(events, flowId))
}

async function expectSameDays(
  db: Db,
  world: World,
  events: ReturnType<typeof withOutcomes>,
  zone: string,
  date: string,
  flowId?: FlowId,
) {
  const day = (offset: number) => new Date(Date.parse(date) + offset * 24 * hourMs).toISOString().slice(0, 10)
  for (const eventName of [...eventNames, 'emailReturned', 'emailRejected'] as const) {
    const expected = recountDays(events, { eventName, zone, flowId })
    const period = { startDate: day(-3), endDate: day(3), timezone: zone, days: 7 }
    const metric = await emailEventMetric(db, world.organizationId, {
      ...{ eventName: eventName as EventName, period, flowId },
    })
    const none = { total: 0, unique: 0, machine: 0 }
    const days = [-3, -2, -1, 0, 1, 2, 3].map((offset) => ({
      date: day(offset),
      ...(expected.get(day(offset)) ?? none),
    }))
    expect(metric.series, `${eventName} in ${zone}`).toEqual(days)
    for (const part of ['total', 'unique', 'machine'] as const)
      expect(metric[part]).toBe(days.reduce((sum, each) => sum + each[part], 0))
  }
}

test('counters and metrics equal a plain recount for any events in any order and zone', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  await fc.assert(
    fc.asyncProperty(history, async ({ change: { date, where }, drafts, again, order, batch, zone }) => {
      const world = await createWorld(db, { messages, flows: 2 })
      const events = drafts.flat().map((each) => eventOf(world, date, each))
      const given = [...events, ...again.flatMap((index) => events[index] ?? [])]
        .map((event, index) => ({ event, position: order[index]! }))
        .sort((a, b) => a.position - b.position)
        .map(({ event }) => event)
      for (let from = 0; from < given.length; from += batch) await record(db, given.slice(from, from + batch))

      const counted = withOutcomes(settled(given))
      await expectSameDays(db, world, counted, where, date)
      await expectSameDays(db, world, counted, zone, date, world.flowIds[1])
      await expectSameFlowCounters(db, world, counted)
      await expectSameLinks(db, world, counted, date)
    }),
    { numRuns: 50 },
  )
  expect(await rebuildCounters(db)).toMatchObject({ countersDifferent: 0, firstsDifferent: 0 })
})
