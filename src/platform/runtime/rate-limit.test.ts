import { afterEach, expect, test, vi } from 'vitest'
import { clientNetwork } from '../values/client-address.ts'
import { RateLimit } from './rate-limit.ts'

afterEach(() => {
  vi.useRealTimers()
})

test('allows a burst, then refills over time', () => {
  const limit = new RateLimit({ perSecond: 2, message: 'Too many' })
  const take = (key: string, nowMs: number) => () => limit.take(key, nowMs)
  for (const call of [take('a', 0), take('a', 0), take('b', 0)]) expect(call).not.toThrow()
  expect(take('a', 400)).toThrow('Too many')
  expect(take('a', 600)).not.toThrow()
  expect(take('a', 600)).toThrow('Too many')
})

test('allows a burst once, and the refusal contains the time until the next call', () => {
  const limit = new RateLimit({ perSecond: 0.1, burst: 3 })
  expect([1, 2, 3, 4].map(() => limit.allow('a', 0))).toEqual([true, true, true, false])
  try {
    limit.take('a', 2_000)
    expect.unreachable()
  } catch (error) {
    expect(error).toMatchObject({ type: 'rate_limited', retryAfterSeconds: 8 })
  }
  expect(limit.allow('a', 10_000)).toBe(true)
})

test('a flood of other keys does not reset a key that exceeded its limit', () => {
  const limit = new RateLimit({ perSecond: 1 })
  for (let key = 0; key < 60_000; key++) limit.allow(`old ${key}`, 0)
  limit.allow('a', 0)
  expect(limit.allow('a', 0)).toBe(false)
  for (let key = 0; key < 60_000; key++) limit.allow(`new ${key}`, 0)
  expect(limit.allow('a', 0)).toBe(false)
})

test('a clock that is set back does not block any key', () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const limit = new RateLimit({ perSecond: 500 })
  limit.take('key')
  vi.setSystemTime(Date.now() - 3_600_000)
  expect(() => limit.take('key')).not.toThrow()
})

test('IPv6 clients count by /64, and mapped IPv4 addresses as IPv4', () => {
  expect(clientNetwork('2001:db8:1:2:3::4')).toBe(clientNetwork('2001:db8:1:2:ffff:ffff:ffff:ffff'))
  expect(clientNetwork('2001:db8:1:2::1')).not.toBe(clientNetwork('2001:db8:1:3::1'))
  expect([clientNetwork('::ffff:192.0.2.1'), clientNetwork('192.0.2.1')]).toEqual(['192.0.2.1', '192.0.2.1'])
})
