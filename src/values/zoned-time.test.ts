import { expect, test } from 'vitest'
import { instantOf, minutesOf, parseWallClock, type WallClock, wallClockAt, windowAt } from './zoned-time.ts'

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
  expect([minutesOf('24:00'), minutesOf('24:01'), minutesOf('8:00')]).toEqual([1440, undefined, undefined])
})

const office = { days: ['mon', 'tue', 'wed', 'thu', 'fri'] as const, from: '08:00', to: '18:00' }
const inOffice = { ...office, days: [...office.days] }

test.for([
  // Friday evening until Monday morning, while clocks are set forward on Sunday.
  ['Europe/Vienna', '2026-03-27T17:00:00Z', false, '2026-03-30T06:00:00.000Z'],
  ['Europe/Vienna', '2026-03-27T16:59:00Z', true, '2026-03-27T17:00:00.000Z'],
  // And back.
  ['Europe/Vienna', '2026-10-23T16:00:00Z', false, '2026-10-26T07:00:00.000Z'],
  ['Europe/Vienna', '2026-10-26T07:00:00Z', true, '2026-10-26T17:00:00.000Z'],
  ['America/Los_Angeles', '2026-11-16T15:59:59Z', false, '2026-11-16T16:00:00.000Z'],
] as const)('office hours in %s at %s: open %s until %s', ([zone, now, isOpen, until]) => {
  const state = windowAt(inOffice, zone, Date.parse(now))
  expect([state.isOpen, new Date(state.until).toISOString()]).toEqual([isOpen, until])
})

test('in every minute of a week with a change, the window agrees with the clock on the wall', () => {
  for (const [zone, start] of [
    ['Europe/Vienna', '2026-03-25T00:00:00Z'],
    ['America/New_York', '2026-10-28T00:00:00Z'],
    ['Australia/Lord_Howe', '2026-10-01T00:00:00Z'],
  ] as const) {
    const window = { days: ['sun', 'mon'] as ('sun' | 'mon')[], from: '01:20', to: '04:47' }
    for (let minute = 0; minute < 7 * 24 * 60; minute += 37) {
      const now = Date.parse(start) + minute * 60_000
      const local = new Date(wallClockAt(zone, now) as WallClock)
      const minutes = local.getUTCHours() * 60 + local.getUTCMinutes()
      const expected = [0, 1].includes(local.getUTCDay()) && minutes >= 80 && minutes < 287
      const { isOpen, until } = windowAt(window, zone, now)
      expect([zone, new Date(now).toISOString(), isOpen]).toEqual([zone, new Date(now).toISOString(), expected])
      expect(until).toBeGreaterThan(now)
    }
  }
})

test('a day ends at midnight', () => {
  const all = { days: ['sat'] as ['sat'], from: '00:00', to: '24:00' }
  const { isOpen, until } = windowAt(all, 'UTC', Date.parse('2026-11-14T23:59:00Z'))
  expect([isOpen, new Date(until).toISOString()]).toEqual([true, '2026-11-15T00:00:00.000Z'])
})
