import { expect, test } from 'vitest'
import { dayMs, hourMs } from '../../platform/values/durations.ts'
import { groupBy } from '../../platform/values/group-by.ts'
import { newId } from '../../platform/values/ids.ts'
import type { Limit, Urgency } from './limit.ts'
import { type LimitUse, OpenLimit } from './open-limit.ts'

const organizationId = newId('org')
const limitOf = (values: Partial<Limit>): Limit => ({
  organizationId,
  key: 'k',
  name: 'limit',
  perSecond: null,
  perDay: null,
  ...values,
})
const start = Date.UTC(2026, 0, 10, 9)
const unused: LimitUse = { day: '2026-01-10', days: 1, used: 0, nextAt: 0, queues: { urgent: 0, waited: 0, bulk: 0 } }
const horizon = { urgent: 2_000, waited: 1_500, bulk: 1_000 }

/** Emails ask at their time, and again when they were told to. Returns when each left. */
function simulate(limit: Limit, emails: { name: string; at: number; urgency: Urgency }[], use = unused) {
  const waiting = emails.map((email) => ({ ...email, asked: 0 }))
  const left: { name: string; at: number; asked: number }[] = []
  let current = use
  while (waiting.length > 0) {
    waiting.sort((a, b) => a.at - b.at)
    const email = waiting.shift()!
    const open = new OpenLimit(limit, current, email.at)
    const refused = open.hold(email.urgency, horizon[email.urgency])
    const asked = email.asked + 1
    if (refused) {
      open.wait(email.urgency, refused)
      const urgency = email.urgency === 'bulk' ? 'waited' : email.urgency
      waiting.push({ ...email, urgency, at: refused.until, asked })
    } else {
      left.push({ name: email.name, at: open.nextAt, asked })
      open.take()
    }
    current = open.use
  }
  return { left, use: current }
}

const bulk = (count: number, at = start) =>
  Array.from({ length: count }, (_, index) => ({
    name: `bulk ${index}`,
    at: at + index / 100,
    urgency: 'bulk' as const,
  }))

test('waiting emails are spread over time: oldest first, nearly all asked twice at most', () => {
  const { left } = simulate(limitOf({ perSecond: 10 }), bulk(800))
  expect(left.map(({ name }) => name)).toEqual(bulk(800).map(({ name }) => name))
  expect(left.every(({ asked }) => asked <= 2)).toBe(true)
  const seconds = (left.at(-1)!.at - left[0]!.at) / 1000
  expect(799 / seconds).toBeGreaterThan(9.5)
  expect(799 / seconds).toBeLessThanOrEqual(10)
})

test('an urgent email goes before all others, and those that wait go before new ones', () => {
  const urgent = { name: 'urgent', at: start + 10_000, urgency: 'urgent' as const }
  const late = { name: 'late', at: start + 10_500, urgency: 'bulk' as const }
  const { left } = simulate(limitOf({ perSecond: 2 }), [...bulk(100), urgent, late])
  expect(left.find(({ name }) => name === 'urgent')!.at).toBeLessThan(urgent.at + 3_000)
  expect(left.at(-1)!.name).toBe('late')
})

test('a time that no waiting email uses is free for others', () => {
  const limit = limitOf({ perSecond: 1 })
  const { use } = simulate(limit, bulk(3))
  const crowded = { ...use, queues: { ...use.queues, bulk: start + dayMs } }
  expect(new OpenLimit(limit, crowded, use.nextAt - 500).hold('bulk', 1_000)).toMatchObject({ cause: 'limit' })
  expect(new OpenLimit(limit, crowded, use.nextAt).hold('bulk', 1_000)).toBeUndefined()
})

test('an email asks again after two hours at the latest, since the limit may have been raised', () => {
  const limit = limitOf({ perSecond: 0.01 })
  let use = unused
  for (let email = 0; email < 1_000; email++) {
    const open = new OpenLimit(limit, use, start)
    const refused = open.hold('bulk', 1_000)
    if (refused) {
      expect(refused.until).toBeLessThanOrEqual(start + 2 * hourMs)
      open.wait('bulk', refused)
    } else open.take()
    use = open.use
  }
})

test('a daily limit is exact over days: the rest leaves right after midnight, the oldest first', () => {
  const { left } = simulate(limitOf({ perSecond: 5, perDay: 50 }), bulk(120))
  expect(left.map(({ name }) => name)).toEqual(bulk(120).map(({ name }) => name))
  const perDay = groupBy(left, ({ at }) => new Date(at).toISOString().slice(0, 10))
  expect(perDay.map(([day, emails]) => [day, emails.length])).toEqual([
    ['2026-01-10', 50],
    ['2026-01-11', 50],
    ['2026-01-12', 20],
  ])
})

test('no email counts for the day before it leaves', () => {
  const midnight = Date.UTC(2026, 0, 11)
  const limit = limitOf({ perSecond: 1, perDay: 5 })
  const { left } = simulate(limit, bulk(12, midnight - 2_500))
  const before = left.filter(({ at }) => at < midnight)
  const after = left.filter(({ at }) => at >= midnight && at < midnight + dayMs)
  expect(before.length).toBeLessThanOrEqual(5)
  expect(after.length).toBe(5)
})

test('a plan counts the days on which something was sent, and a break resumes at the same step', () => {
  const limit = limitOf({ plan: [2, 4, 8], sparesUrgent: true })
  const sentOn = (day: number, use: LimitUse) => {
    const at = start + day * dayMs
    const open = new OpenLimit(limit, use, at)
    let sent = 0
    for (; sent < 100 && !open.hold('bulk', 0); sent++) open.take()
    return { sent, use: open.use }
  }
  const first = sentOn(0, unused)
  const second = sentOn(1, first.use)
  const afterBreak = sentOn(5, second.use)
  const last = sentOn(6, afterBreak.use)
  expect([first, second, afterBreak, last].map(({ sent }) => sent)).toEqual([2, 4, 8, 100])
})

test('a plan never delays an urgent email, which counts nevertheless', () => {
  const limit = limitOf({ plan: [2], sparesUrgent: true })
  const urgent = Array.from({ length: 5 }, (_, index) => ({
    name: `${index}`,
    at: start + index,
    urgency: 'urgent' as const,
  }))
  const { left, use } = simulate(limit, urgent)
  expect(left.map(({ at }) => at)).toEqual(urgent.map(({ at }) => at))
  expect(use.used).toBe(5)
  expect(new OpenLimit(limit, use, start + 10).hold('bulk', 0)).toMatchObject({ cause: 'daily_limit' })
})
