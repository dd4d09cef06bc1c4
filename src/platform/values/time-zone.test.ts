import { expect, test } from 'vitest'
import { hourMs } from './durations.ts'
import { dayBounds, instantOf, isTimeZone, parseWallClock, wallClockAt } from './time-zone.ts'

const at = (zone: string, wall: string) => new Date(instantOf(zone, parseWallClock(wall)!)).toISOString()
const clock = (zone: string, time: string) => new Date(wallClockAt(zone, Date.parse(time))).toISOString().slice(0, 16)

test.for([
  ['Europe/Vienna', '2026-01-15T09:00', '2026-01-15T08:00:00.000Z'],
  ['Europe/Vienna', '2026-07-15T09:00', '2026-07-15T07:00:00.000Z'],
  // Skipped: clocks go from 02:00 to 03:00.
  ['Europe/Vienna', '2026-03-29T02:30', '2026-03-29T01:30:00.000Z'],
  // Occurs twice: the first.
  ['Europe/Vienna', '2026-10-25T02:30', '2026-10-25T00:30:00.000Z'],
  ['America/New_York', '2026-11-01T01:30', '2026-11-01T05:30:00.000Z'],
  ['Asia/Kolkata', '2026-05-01T00:00', '2026-04-30T18:30:00.000Z'],
  ['Pacific/Kiritimati', '2026-05-01T09:00', '2026-04-30T19:00:00.000Z'],
  // Half an hour of daylight saving time.
  ['Australia/Lord_Howe', '2026-10-04T02:15', '2026-10-03T15:45:00.000Z'],
] as const)('%s %s is %s', ([zone, wall, instant]) => {
  expect(at(zone, wall)).toBe(instant)
})

test('a wall clock shows the local time, and impossible dates are rejected', () => {
  expect(clock('America/New_York', '2026-11-01T05:30:00Z')).toBe('2026-11-01T01:30')
  expect(clock('Australia/Lord_Howe', '2026-10-03T15:45:00Z')).toBe('2026-10-04T02:45')
  for (const text of ['2026-02-30T09:00', '2026-13-01T09:00', '2026-01-01T24:00', '2026-01-01', '2026-1-1T9:00'])
    expect(parseWallClock(text)).toBeUndefined()
  expect(() => wallClockAt('Mars/Base', 0)).toThrow('no time zone')
})

test('names of a zone that differ in case only share a formatter', () => {
  const { DateTimeFormat } = Intl
  let created = 0
  const construct = (format: typeof DateTimeFormat, options: []) => {
    created++
    return new format(...options)
  }
  Intl.DateTimeFormat = new Proxy(DateTimeFormat, { construct })
  const name = 'Antarctica/DumontDUrville'
  const names = [...name].map((_, at) => name.slice(0, at).toUpperCase() + name.slice(at).toLowerCase())
  expect(names.filter(isTimeZone)).toEqual(names)
  Intl.DateTimeFormat = DateTimeFormat
  expect(created).toBe(1)
  // The Kelvin sign is a k in lower case.
  expect(['Asia/Kolkata', 'Asia/\u212aolkata'].map(isTimeZone)).toEqual([true, false])
})

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
