import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createCache, getOrFetch, refetch } from './cache.ts'

/** A cache whose reads are answered by the test, in any order. */
function readByHand(options: { ttl?: number; allowStale?: boolean } = {}) {
  const reads: { resolve: (value: number) => void; reject: (error: Error) => void }[] = []
  const fetchMethod = () => new Promise<number>((resolve, reject) => reads.push({ resolve, reject }))
  return { reads, cache: createCache<string, number>(10, { ...options, fetchMethod }) }
}

test('a value that is deleted while it is read is returned to those who wait, and not kept', async () => {
  const { reads, cache } = readByHand()
  const both = [getOrFetch(cache, 'a'), getOrFetch(cache, 'a')]
  cache.delete('a')
  reads[0]!.resolve(1)
  expect(await Promise.all(both)).toEqual([1, 1])
  expect(reads).toHaveLength(1)

  const next = getOrFetch(cache, 'a')
  reads[1]!.resolve(2)
  expect(await next).toBe(2)
  expect(getOrFetch(cache, 'a')).toBe(2)
})

test('a stale value is used while it is read again, also if that fails', async () => {
  const { reads, cache } = readByHand({ ttl: 60_000, allowStale: true })
  cache.set('a', 1, { start: performance.now() - 120_000 })
  expect([getOrFetch(cache, 'a'), getOrFetch(cache, 'a')]).toEqual([1, 1])
  expect(reads).toHaveLength(1)
  reads[0]!.reject(new Error('the database is down'))
  await setImmediate()

  expect(getOrFetch(cache, 'a')).toBe(1)
  expect(reads).toHaveLength(2)
  reads[1]!.resolve(2)
  await setImmediate()
  expect(getOrFetch(cache, 'a')).toBe(2)
  expect(reads).toHaveLength(2)
})

test('after a change, a value is read again, even if a read that began before is not finished', async () => {
  const { reads, cache } = readByHand({ ttl: 60_000, allowStale: true })
  const before = getOrFetch(cache, 'a')
  const after = refetch(cache, 'a')
  reads[0]!.resolve(1)
  expect(await before).toBe(1)
  await setImmediate()
  reads[1]!.resolve(2)
  expect(await after).toBe(2)
  expect(getOrFetch(cache, 'a')).toBe(2)
})
