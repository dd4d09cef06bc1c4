import { expect, test } from 'vitest'
import { Batcher, BatcherFull } from './batcher.ts'

const ok = <Value>(value: Value) => ({ ok: true as const, value })

test('items that arrive while a batch runs form the next batch', async () => {
  const sizes: number[] = []
  const batcher = new Batcher<number, number>({
    itemsMax: 100,
    waitingMax: 1000,
    run: async (items) => {
      sizes.push(items.length)
      await new Promise((resolve) => setTimeout(resolve, 5))
      return items.map((item) => ok(item * 2))
    },
  })
  const first = batcher.add(1)
  await new Promise((resolve) => setImmediate(resolve))
  const rest = [2, 3, 4].map((item) => batcher.add(item))
  expect(await Promise.all([first, ...rest])).toEqual([2, 4, 6, 8])
  expect(sizes).toEqual([1, 3])
})

test('limits the size of a batch and the number of pending items', async () => {
  const sizes: number[] = []
  const batcher = new Batcher<number, number>({
    itemsMax: 2,
    waitingMax: 5,
    run: async (items) => {
      sizes.push(items.length)
      return items.map(ok)
    },
  })
  const calls = [1, 2, 3, 4, 5].map((item) => batcher.add(item))
  await expect(batcher.add(6)).rejects.toBeInstanceOf(BatcherFull)
  await Promise.all(calls)
  await batcher.drained()
  expect(sizes).toEqual([2, 2, 1])
})

test('starts a second batch beside a running one only if it is large', async () => {
  const sizes: number[] = []
  let finish = () => {}
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  const batcher = new Batcher<number, number>({
    itemsMax: 500,
    waitingMax: 1000,
    concurrency: 2,
    run: async (items) => {
      sizes.push(items.length)
      await finished
      return items.map(ok)
    },
  })
  const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  const calls = [batcher.add(0)]
  await turn()
  for (let item = 1; item < 100; item++) calls.push(batcher.add(item))
  await turn()
  expect(sizes).toEqual([1])
  calls.push(batcher.add(100))
  await turn()
  expect(sizes).toEqual([1, 100])
  calls.push(batcher.add(101))
  finish()
  await Promise.all(calls)
  expect(sizes).toEqual([1, 100, 1])
})

test('retries a failed batch in halves, so that only the bad item fails', async () => {
  const batcher = new Batcher<number, number>({
    itemsMax: 100,
    waitingMax: 100,
    splitOn: () => true,
    run: async (items) => {
      if (items.includes(3)) throw new Error('three')
      return items.map(ok)
    },
  })
  const results = await Promise.allSettled([1, 2, 3, 4, 5].map((item) => batcher.add(item)))
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
})

test('does not split a batch that failed for another reason', async () => {
  let runs = 0
  const batcher = new Batcher<number, number>({
    itemsMax: 100,
    waitingMax: 100,
    splitOn: () => false,
    run: async () => {
      runs++
      throw new Error('away')
    },
  })
  const results = await Promise.allSettled([1, 2, 3].map((item) => batcher.add(item)))
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(runs).toBe(1)
})

test('with paceMs, starts the first batch immediately, delays the next, and does not delay a full one', async () => {
  const sizes: number[] = []
  const batcher = new Batcher<number, number>({
    itemsMax: 3,
    waitingMax: 100,
    paceMs: 60_000,
    run: async (items) => {
      sizes.push(items.length)
      return items.map(ok)
    },
  })
  expect(await batcher.add(1)).toBe(1)
  const gathered = [2, 3].map((item) => batcher.add(item))
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(sizes).toEqual([1])
  expect(await Promise.all([...gathered, batcher.add(4)])).toEqual([2, 3, 4])
  expect(sizes).toEqual([1, 3])
})
