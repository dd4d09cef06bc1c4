import { afterEach, expect, test, vi } from 'vitest'
import { RateLimit } from './rate-limit.ts'

afterEach(() => {
  vi.useRealTimers()
})

test('a key may make its number of calls at once, and then as many as the time since has brought', () => {
  const limit = new RateLimit(2)
  const take = (key: string, nowMs: number) => () => limit.take(key, nowMs)
  for (const call of [take('a', 0), take('a', 0), take('b', 0)]) expect(call).not.toThrow()
  expect(take('a', 400)).toThrow('2 requests a second')
  expect(take('a', 600)).not.toThrow()
  expect(take('a', 600)).toThrow('2 requests a second')
})

test('a clock that is set back locks nobody out', () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const limit = new RateLimit(500)
  limit.take('key')
  vi.setSystemTime(Date.now() - 3_600_000)
  expect(() => limit.take('key')).not.toThrow()
})
