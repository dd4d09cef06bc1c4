import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isTimeZone } from '../values/time-zone.ts'
import { type Count, countersOf, noCount, plus, SpanSums } from './spans.ts'
import { dayBounds } from './zones.ts'

const hourMs = 60 * 60_000
const quarterMs = hourMs / 4
const dayMs = 24 * hourMs

const starts = (zone: string, firstDay: string, days: number) =>
  dayBounds(zone, new Date(firstDay), days).map((bound) => new Date(bound).toISOString().slice(0, 16))

test('days start at local midnight, which may be at any quarter-hour', () => {
  expect(starts('UTC', '2026-01-01', 1)).toEqual(['2026-01-01T00:00', '2026-01-02T00:00'])
  expect(starts('Asia/Kolkata', '2026-01-01', 1)).toEqual(['2025-12-31T18:30', '2026-01-01T18:30'])
  expect(starts('Asia/Kathmandu', '2026-01-01', 1)).toEqual(['2025-12-31T18:15', '2026-01-01T18:15'])
})

test('a day with a clock change is shorter or longer', () => {
  const hours = (zone: string, day: string) => {
    const [from, until] = dayBounds(zone, new Date(day), 1)
    return (until! - from!) / hourMs
  }
  expect(hours('Europe/Berlin', '2026-03-29')).toBe(23)
  expect(hours('Europe/Berlin', '2026-10-25')).toBe(25)
  expect(hours('Europe/Berlin', '2026-06-15')).toBe(24)
  expect(hours('Australia/Lord_Howe', '2026-04-05')).toBe(24.5)
})

test('if clocks skip midnight, the day starts at the change; if they go back before it, after the change', () => {
  expect(starts('America/Havana', '2026-03-08', 1)).toEqual(['2026-03-08T05:00', '2026-03-09T04:00'])
  expect(starts('Africa/Cairo', '2026-04-24', 1)).toEqual(['2026-04-23T22:00', '2026-04-24T21:00'])
  expect(starts('Africa/Cairo', '2026-10-29', 2)).toEqual(['2026-10-28T21:00', '2026-10-29T22:00', '2026-10-30T22:00'])
})

test('a skipped day has no length', () => {
  expect(starts('Pacific/Apia', '2011-12-29', 3)).toEqual([
    '2011-12-29T10:00',
    '2011-12-30T10:00',
    '2011-12-30T10:00',
    '2011-12-31T10:00',
  ])
})

test('the days of every zone have no gaps and match the local date', () => {
  for (const zone of Intl.supportedValuesOf('timeZone')) {
    const format = new Intl.DateTimeFormat('en-CA', {
      timeZone: zone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
    })
    const bounds = dayBounds(zone, new Date('2026-01-01'), 365)
    for (const day of [0, 66, 67, 87, 88, 95, 301, 304, 364]) {
      const date = new Date(Date.UTC(2026, 0, 1 + day)).toISOString().slice(0, 10)
      expect(format.format(bounds[day]!), zone).toBe(date)
      expect(format.format(bounds[day + 1]! - 1), zone).toBe(date)
    }
  }
})

test('zone names are accepted in any case; offsets and invalid names are not', () => {
  for (const name of ['UTC', 'europe/berlin', 'Asia/Calcutta', 'US/Pacific', 'Etc/GMT+3'])
    expect(isTimeZone(name)).toBe(true)
  for (const name of ['', 'Mars/Base', '+05:30', 'GMT+3', 'UTC; drop table', 'x'.repeat(100)])
    expect(isTimeZone(name)).toBe(false)
})

type Stretch = { from: number; until: number }
const startsIn = ({ from, until }: Stretch, step: number) =>
  Array.from({ length: (until - from) / step }, (_, index) => from + index * step)

/** Reads as the database would: each counter of the plan, made from the times it covers. */
function readCounters(bounds: number[], at: number[]): Count[] {
  const counters = countersOf(bounds)
  const countIn = (from: number, length: number): Count => {
    const total = at.filter((time) => time >= from && time < from + length).length
    return { total, unique: 2 * total, machine: 3 * total }
  }
  const sums = new SpanSums()
  const nearest = (time: number) => Math.floor((time + dayMs / 2) / dayMs) * dayMs
  const side = (time: number) => (time < nearest(time) ? 'before' : 'after')
  for (const day of startsIn(counters.days, dayMs)) sums.add('day', day, countIn(day, dayMs))
  for (const hour of counters.hours.flatMap((each) => startsIn(each, hourMs)))
    sums.add(side(hour), nearest(hour), countIn(hour, hourMs))
  for (const quarter of counters.quarters.flatMap((each) => startsIn(each, quarterMs)))
    sums.add(side(quarter), nearest(quarter), countIn(quarter, quarterMs))
  return sums.between(bounds)
}

test('days, hours and quarters add up to the count between any bounds', () => {
  const bounds = fc
    .tuple(
      fc.integer({ min: -96, max: 96 }),
      fc.array(fc.integer({ min: 88, max: 104 }), { minLength: 1, maxLength: 5 }),
    )
    .map(([first, lengths]) => {
      const list = [first * quarterMs]
      for (const length of lengths) list.push(list.at(-1)! + length * quarterMs)
      return list
    })
  const times = fc.array(fc.integer({ min: -3 * dayMs, max: 9 * dayMs }), { maxLength: 60, size: 'max' })
  fc.assert(
    fc.property(bounds, times, (list, at) => {
      const expected = list.slice(1).map((until, index) => {
        const total = at.filter((time) => time >= list[index]! && time < until).length
        return { total, unique: 2 * total, machine: 3 * total }
      })
      expect(readCounters(list, at)).toEqual(expected)
      const all = expected.reduce((sum, count) => plus(sum, count), noCount)
      expect(readCounters([list[0]!, list.at(-1)!], at)).toEqual([all])
    }),
    { numRuns: 500 },
  )
})

test('a year of days in any zone needs few counters', () => {
  const rows = (zone: string) => {
    const { hours, quarters } = countersOf(dayBounds(zone, new Date('2026-01-01'), 365))
    const lengthOf = (stretches: Stretch[]) => stretches.reduce((sum, { from, until }) => sum + until - from, 0)
    return 365 + lengthOf(hours) / hourMs + lengthOf(quarters) / quarterMs
  }
  expect(rows('UTC')).toBe(365)
  expect(rows('Asia/Kolkata')).toBe(365 + 366 * (5 + 2))
  expect(rows('Pacific/Auckland')).toBeLessThan(365 + 366 * 13)
})
