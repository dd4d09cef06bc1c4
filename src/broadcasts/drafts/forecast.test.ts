import { expect, test } from 'vitest'
import type { Limit } from '../../delivery/limits/limit.ts'
import { unused } from '../../delivery/limits/open-limit.ts'
import { dayMs, hourMs } from '../../platform/values/durations.ts'
import { newId } from '../../platform/values/ids.ts'
import type { UsedLimit } from '../sending/plan-limits.ts'
import { forecastAll, type Pace, type Portion } from './forecast.ts'

/** A Wednesday, 10:00 in UTC. */
const now = Date.parse('2026-03-04T10:00:00Z')
const free: Pace = { organizationId: newId('org'), window: null, spacingMs: 0, limits: [] }
const everybody = (recipients: number): Portion[] => [{ startsAt: now, zone: 'UTC', recipients }]
const limited = (limit: Partial<Limit>, used = 0): UsedLimit => ({
  limit: { organizationId: newId('org'), key: 'k', name: 'x', perSecond: null, perDay: null, ...limit },
  use: { ...unused(now), used },
})
const text = (time: number) => new Date(time).toISOString().slice(5, 16)
const brief = async (portions: Portion[], pace: Partial<Pace>) => {
  const { firstAt, lastAt, holds } = await forecastAll(portions, { ...free, ...pace })
  const waits = holds.map(({ cause, until }) => `${cause} ${text(until)}`)
  return [text(firstAt), lastAt && text(lastAt), ...waits]
}
const perHour = (emails: number) => hourMs / emails

test('without limits all emails leave at the start', async () => {
  expect(await brief(everybody(1_000_000), {})).toEqual(['03-04T10:00', '03-04T10:00'])
  expect(await brief(everybody(0), {})).toEqual(['03-04T10:00', '03-04T10:00'])
})

test('a rate spaces the emails', async () => {
  expect(await brief(everybody(4), { spacingMs: perHour(2) })).toEqual(['03-04T10:00', '03-04T11:30'])
  expect(await brief(everybody(7_201), { spacingMs: perHour(3_600) })).toEqual(['03-04T10:00', '03-04T12:00'])
  // It waits for other emails within the same limit.
  const crowded = limited({ perSecond: 1 })
  crowded.use.nextAt = now + hourMs
  expect(await brief(everybody(1), { limits: [crowded], spacingMs: 1_000 })).toEqual([
    '03-04T11:00',
    '03-04T11:00',
    'limit 03-04T11:00',
  ])
})

test('outside the sending hours the rest waits for the next opening, also over a weekend', async () => {
  const window = { days: ['wed' as const, 'mon' as const], from: '09:00', to: '12:00' }
  expect(await brief(everybody(300), { window, spacingMs: perHour(100) })).toEqual([
    '03-04T10:00',
    '03-09T09:59',
    'sending_hours 03-09T09:00',
  ])
  const later = [{ startsAt: now + 3 * hourMs, zone: 'UTC', recipients: 5 }]
  expect(await brief(later, { window })).toEqual(['03-09T09:00', '03-09T09:00', 'sending_hours 03-09T09:00'])
})

test('a warm-up plan lets more leave on each day, and a daily limit the same', async () => {
  expect(await brief(everybody(160), { limits: [limited({ plan: [50, 100] })] })).toEqual([
    '03-04T10:00',
    '03-06T00:00',
    'daily_limit 03-05T00:00',
  ])
  const window = { days: ['wed' as const, 'thu' as const], from: '09:00', to: '12:00' }
  expect(await brief(everybody(7), { window, limits: [limited({ perDay: 5 })] })).toEqual([
    '03-04T10:00',
    '03-05T09:00',
    'daily_limit 03-05T00:00',
    'sending_hours 03-05T09:00',
  ])
  expect(await brief(everybody(5), { limits: [limited({ perDay: 5 })] })).toEqual(['03-04T10:00', '03-04T10:00'])
  const usedUp = await brief(everybody(1), { limits: [limited({ perDay: 5 }, 5)] })
  expect(usedUp).toEqual(['03-05T00:00', '03-05T00:00', 'daily_limit 03-05T00:00'])
})

test('recipients get it at their local time, and share the limits', async () => {
  const portions = [
    { startsAt: now, zone: 'Asia/Tokyo', recipients: 3 },
    { startsAt: now + 8 * hourMs, zone: 'Europe/Vienna', recipients: 4 },
  ]
  expect(await brief(portions, {})).toEqual(['03-04T10:00', '03-04T18:00', 'local_time 03-04T18:00'])
  expect(await brief(portions, { limits: [limited({ perDay: 5 })] })).toEqual([
    '03-04T10:00',
    '03-05T00:00',
    'local_time 03-04T18:00',
    'daily_limit 03-05T00:00',
  ])
  // Each in its own sending hours.
  const window = { days: ['wed' as const, 'thu' as const], from: '18:00', to: '20:00' }
  expect(await brief(portions, { window, spacingMs: perHour(1) })).toEqual([
    '03-04T10:00',
    '03-11T17:00',
    'local_time 03-04T18:00',
    'sending_hours 03-05T09:00',
  ])
})

test('a forecast that would take too long has no end', async () => {
  const window = { days: ['wed' as const], from: '09:00', to: '09:15' }
  const { firstAt, lastAt } = await forecastAll(everybody(1_000_000), { ...free, window, spacingMs: hourMs })
  expect([firstAt, lastAt]).toEqual([now - hourMs + 7 * dayMs, null])
})
