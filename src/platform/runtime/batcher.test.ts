import { expect, test } from 'vitest'
import { withResolvers } from '../../../test/support/with-resolvers.ts'
import { Batcher, type BatcherOptions } from './batcher.ts'
import { StageRegistry } from './stage-registry.ts'

const base = { name: 'test', organizationOf: () => 'a', waitingPerOrganization: 1_000 }
const ok = <Value>(value: Value) => ({ ok: true as const, value })

test('items that arrive while a batch runs form the next batch', async () => {
  const sizes: number[] = []
  const batcher = new Batcher<number, number>({
    ...base,
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
    ...base,
    itemsMax: 2,
    waitingMax: 5,
    run: async (items) => {
      sizes.push(items.length)
      return items.map(ok)
    },
  })
  const calls = [1, 2, 3, 4, 5].map((item) => batcher.add(item))
  await expect(batcher.add(6)).rejects.toMatchObject({ type: 'unavailable' })
  await Promise.all(calls)
  await batcher.drained()
  expect(sizes).toEqual([2, 2, 1])
})

test('starts a second batch beside a running one only if it is large', async () => {
  const sizes: number[] = []
  const { promise: finished, resolve: finish } = withResolvers()
  const batcher = new Batcher<number, number>({
    ...base,
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
    ...base,
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
    ...base,
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
    ...base,
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

type Item = { of: string; n: number; weight?: number }

/** A batcher whose batches end when they are released, one at a time. */
function startBatcher(options: Partial<BatcherOptions<Item, string>> = {}) {
  const batches: string[][] = []
  const release: (() => void)[] = []
  const batcher = new StageRegistry().batcher<Item, string>({
    name: 'test',
    organizationOf: ({ of }) => of,
    itemsMax: 4,
    waitingPerOrganization: 10,
    waitingMax: 25,
    run: async (items) => {
      const names = items.map(({ of, n }) => `${of}${n}`)
      batches.push(names)
      await new Promise<void>((resolve) => release.push(resolve))
      return names.map(ok)
    },
    ...options,
  })
  const add = (of: string, n: number, weight?: number) =>
    batcher.add(weight === undefined ? { of, n } : { of, n, weight })
  const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  const releaseAll = async () => {
    await turn()
    while (release.length > 0) {
      release.shift()!()
      await turn()
    }
  }
  return { batcher, batches, add, turn, releaseAll }
}

test('takes the items of organizations in turn, so that a busy one does not delay another', async () => {
  const { batches, add, turn, releaseAll } = startBatcher()
  const first = add('a', 0)
  await turn()
  const busy = Array.from({ length: 10 }, (_, n) => add('a', n + 1))
  const others = [add('b', 1), add('b', 2), add('c', 1)]
  // The limit of waiting items is one of each organization.
  await expect(add('a', 11)).rejects.toMatchObject({ type: 'rate_limited', retryAfterSeconds: 1 })
  others.push(add('c', 2))
  await releaseAll()
  expect(await Promise.all([first, ...busy, ...others])).toHaveLength(15)
  expect(batches.slice(0, 4)).toEqual([
    ['a0'],
    ['a1', 'b1', 'c1', 'a2'],
    ['b2', 'c2', 'a3', 'a4'],
    ['a5', 'a6', 'a7', 'a8'],
  ])
})

test('refuses items beyond the limit of all organizations', async () => {
  const { add, releaseAll } = startBatcher()
  const calls = Array.from({ length: 25 }, (_, n) => add(`o${n % 5}`, n))
  await expect(add('x', 1)).rejects.toMatchObject({ type: 'unavailable' })
  await releaseAll()
  expect(await Promise.all(calls)).toHaveLength(25)
})

const weights = {
  weightOf: ({ weight = 1 }: Item) => weight,
  weightMax: 10,
  heavy: { perOrganization: 1, overall: 2, waitingPerOrganization: 2, waitMs: 60_000 },
}

test('a batch has a limited weight', async () => {
  const { batches, add, turn, releaseAll } = startBatcher({ itemsMax: 100, weights })
  const calls = [add('a', 0)]
  await turn()
  calls.push(add('a', 1, 6), add('a', 2, 4), add('a', 3, 1), add('b', 1, 3))
  await releaseAll()
  await Promise.all(calls)
  expect(batches).toEqual([['a0'], ['a1', 'b1'], ['a2', 'a3']])
})

test('items that are too heavy for a batch run alone, one of each organization, and delay no other item', async () => {
  const { batcher, batches, add, turn, releaseAll } = startBatcher({ weights })
  const heavy = [add('a', 1, 11), add('a', 2, 11), add('b', 1, 100), add('a', 3, 11)]
  await expect(add('a', 4, 11)).rejects.toMatchObject({ type: 'rate_limited' })
  const light = [add('c', 1), add('a', 9)]
  await turn()
  expect(batches).toEqual([['a1'], ['b1'], ['c1', 'a9']])
  expect(batcher.isIdle).toBe(false)
  const drained = batcher.drained()
  await releaseAll()
  expect(await Promise.all([...heavy, ...light])).toEqual(['a1', 'a2', 'b1', 'a3', 'c1', 'a9'])
  await drained
})
