import { expect, test } from 'vitest'
import { unused } from '../../delivery/limits/open-limit.ts'
import type { Limit } from '../../delivery/limits/sending-limits.ts'
import { dayMs, hourMs, minuteMs } from '../../platform/values/durations.ts'
import { newId } from '../../platform/values/ids.ts'
import { forecast, limitedPerHour, type Pace, type Portion, type SharedLimit } from './forecast.ts'

/** A Wednesday, 10:00 in UTC. */
const now = Date.parse('2026-03-04T10:00:00Z')
const free: Pace = { window: null, messagesPerHour: null, limits: [], usualSpacingMs: 0 }
const everybody = (recipients: number): Portion[] => [{ startsAt: now, zone: 'UTC', recipients }]
const limited = (limit: Partial<Limit>, share = 1): SharedLimit => ({
  limit: { organizationId: newId('org'), key: 'k', name: 'x', perSecond: null, perDay: null, ...limit },
  use: unused(now),
  share,
})
const brief = async (portions: Portion[], pace: Partial<Pace>) => {
  const { stretches } = await forecast(portions, { ...free, ...pace })
  return stretches.map(({ startsAt, endsAt, recipients, cause }) => [
    recipients,
    cause,
    new Date(startsAt).toISOString().slice(5, 16),
    new Date(endsAt).toISOString().slice(5, 16),
  ])
}

test('without limits all emails leave at the start', async () => {
  expect(await brief(everybody(1_000_000), {})).toEqual([[1_000_000, 'start', '03-04T10:00', '03-04T10:00']])
  expect(await brief(everybody(0), {})).toEqual([])
  expect(await brief(everybody(4_100), { usualSpacingMs: 1_000 })).toEqual([
    [4_100, 'start', '03-04T10:00', '03-04T11:00'],
  ])
})

test('a rate spaces the emails, the first of which leave together', async () => {
  expect(await brief(everybody(4), { messagesPerHour: 2 })).toEqual([[4, 'start', '03-04T10:00', '03-04T11:30']])
  expect(await brief(everybody(7_200), { messagesPerHour: 3_600 })).toEqual([
    [7_200, 'start', '03-04T10:00', '03-04T11:59'],
  ])
})

test('the speed of a rate is the rate, and the slower of rate and usual speed is expected', async () => {
  const wrong: number[] = []
  for (let rate = 1; rate <= 200_000; rate++)
    if (limitedPerHour({ messagesPerHour: rate, limits: [] }) !== rate) wrong.push(rate)
  expect(wrong).toEqual([])
  expect(limitedPerHour(free)).toBeNull()
  const oneHour = [[3_600, 'start', '03-04T10:00', '03-04T10:59']]
  expect(await brief(everybody(3_600), { messagesPerHour: 3_600, usualSpacingMs: 10 })).toEqual(oneHour)
  expect(await brief(everybody(3_600), { messagesPerHour: 1_000_000, usualSpacingMs: 1_100 })).toEqual([
    [3_600, 'start', '03-04T10:00', '03-04T10:56'],
  ])
})

test('outside the sending hours the rest waits for the next opening, also over a weekend', async () => {
  const window = { days: ['wed' as const, 'mon' as const], from: '09:00', to: '12:00' }
  expect(await brief(everybody(300), { window, messagesPerHour: 100 })).toEqual([
    [200, 'start', '03-04T10:00', '03-04T11:59'],
    [100, 'sending_hours', '03-09T09:00', '03-09T09:59'],
  ])
  const later = [{ startsAt: now + 3 * hourMs, zone: 'UTC', recipients: 5 }]
  expect(await brief(later, { window })).toEqual([[5, 'sending_hours', '03-09T09:00', '03-09T09:00']])
})

test('a warm-up plan lets more leave on each day, and a daily limit the same', async () => {
  expect(await brief(everybody(160), { limits: [limited({ plan: [50, 100] })] })).toEqual([
    [50, 'start', '03-04T10:00', '03-04T10:00'],
    [100, 'daily_limit', '03-05T00:00', '03-05T00:00'],
    [10, 'daily_limit', '03-06T00:00', '03-06T00:00'],
  ])
  const window = { days: ['wed' as const, 'thu' as const], from: '09:00', to: '12:00' }
  expect(await brief(everybody(7), { window, limits: [limited({ perDay: 5 })] })).toEqual([
    [5, 'start', '03-04T10:00', '03-04T10:00'],
    [2, 'daily_limit', '03-05T09:00', '03-05T09:00'],
  ])
  const half = limited({ perDay: 10 }, 0.5)
  half.use.used = 5
  expect(await brief(everybody(15), { limits: [half] })).toEqual([
    [10, 'start', '03-04T10:00', '03-04T10:00'],
    [5, 'daily_limit', '03-05T00:00', '03-05T00:00'],
  ])
})

test('recipients get it at their local time, and share the limits', async () => {
  const portions = [
    { startsAt: now, zone: 'Asia/Tokyo', recipients: 3 },
    { startsAt: now + 8 * hourMs, zone: 'Europe/Vienna', recipients: 4 },
  ]
  expect(await brief(portions, {})).toEqual([
    [3, 'start', '03-04T10:00', '03-04T10:00'],
    [4, 'local_time', '03-04T18:00', '03-04T18:00'],
  ])
  expect(await brief(portions, { limits: [limited({ perDay: 5 })] })).toEqual([
    [3, 'start', '03-04T10:00', '03-04T10:00'],
    [2, 'local_time', '03-04T18:00', '03-04T18:00'],
    [2, 'daily_limit', '03-05T00:00', '03-05T00:00'],
  ])
})

test('a forecast that would take too long ends early', async () => {
  const window = { days: ['wed' as const], from: '09:00', to: '09:15' }
  const { isComplete, stretches } = await forecast(everybody(1_000_000), { ...free, window, messagesPerHour: 1 })
  expect(isComplete).toBe(false)
  expect(stretches.at(-1)!.startsAt).toBeGreaterThan(now + 300 * dayMs)
  expect(stretches[0]!.startsAt % (15 * minuteMs)).toBe(0)
})
