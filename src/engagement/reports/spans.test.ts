import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dayMs, hourMs } from '../../platform/values/durations.ts'
import { dayBounds } from '../../platform/values/time-zone.ts'
import { type Count, countersOf, noCount, plus, SpanSums } from './spans.ts'

const quarterMs = hourMs / 4

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
  for (const quarter of counters.quarters.flatMap((each) => startsIn(each, quarterMs)))
    sums.add(side(quarter), nearest(quarter), countIn(quarter, quarterMs))
  return sums.between(bounds)
}

test('days and quarters add up to the count between any bounds', () => {
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
    const { quarters } = countersOf(dayBounds(zone, new Date('2026-01-01'), 365))
    return 365 + quarters.reduce((sum, { from, until }) => sum + until - from, 0) / quarterMs
  }
  expect(rows('UTC')).toBe(365)
  expect(rows('Asia/Kolkata')).toBe(365 + 366 * 22)
  expect(rows('Pacific/Auckland')).toBeLessThan(365 + 366 * 49)
})
