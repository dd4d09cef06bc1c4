import { expect, test } from 'vitest'
import { Refusal } from '../values/errors.ts'
import { runSlices, stopped } from './slices.ts'

const timeout = Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' })
const never = () => false

test('slices grow while they are fast, and each begins where the one before ended', async () => {
  const slices: [number, number][] = []
  const run = async (after: number, size: number) => {
    slices.push([after, size])
    return after + size >= 100_000 ? undefined : after + size
  }
  expect(await runSlices({ from: 0, run, isOver: never })).toBe('complete')
  const ends = slices.map(([after, size]) => after + size)
  expect(slices.slice(1).map(([after]) => after)).toEqual(ends.slice(0, -1))
  expect(slices.at(-1)![1]).toBeGreaterThan(slices[0]![1])
})

test('a slice that takes too long is repeated with fewer rows; after several tries the work is given up', async () => {
  const sizes: number[] = []
  const rejected = new Refusal('unavailable', 'Too slow', { cause: timeout })
  const run = async (after: number, size: number) => {
    sizes.push(size)
    if (size > 50) throw sizes.length % 2 ? timeout : rejected
    return after === 0 ? 1 : undefined
  }
  expect(await runSlices({ from: 0, run, isOver: never })).toBe('complete')
  expect(sizes[1]).toBeLessThan(sizes[0]!)

  const tries: number[] = []
  const tooSlow = async (_after: number, size: number) => {
    tries.push(size)
    throw timeout
  }
  expect(await runSlices({ from: 0, run: tooSlow, isOver: never })).toBe('too_expensive')
  expect(tries.length).toBeLessThan(10)
  await expect(runSlices({ from: 0, run: () => Promise.reject(new Error('A bug')), isOver: never })).rejects.toThrow(
    'A bug',
  )
})

test('stops between two slices', async () => {
  const begun: number[] = []
  const run = async (after: number, size: number) => {
    begun.push(after)
    return after + size
  }
  expect(await runSlices({ from: 0, run, isOver: () => begun.length === 2 })).toBe('stopped')
  expect(begun).toEqual([0, 1_000])
  const stopping = async (after: number, size: number) => (after > 0 ? stopped : after + size)
  expect(await runSlices({ from: 0, run: stopping, isOver: never })).toBe('stopped')
})
