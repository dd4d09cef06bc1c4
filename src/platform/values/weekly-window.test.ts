import { expect, test } from 'vitest'
import { type WallClock, wallClockAt } from './time-zone.ts'
import { minutesOf, windowAt } from './weekly-window.ts'

test('a time of day has two digits for the hour, and midnight may end a window', () => {
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
