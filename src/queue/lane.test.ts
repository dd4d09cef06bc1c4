import { expect, test } from 'vitest'
import { newId } from '../values/ids.ts'
import { Lane } from './lane.ts'
import type { Claim } from './queue.ts'

const organizationId = newId('org')
const share = 100
const laneOf = (first: number, max: number) =>
  new Lane<null>({ organizationId, lane: 'lane' }, '00000000-0000-4000-8000-000000000000', { first, max })
const addReady = (lane: Lane<null>, count: number) => {
  for (let i = 0; i < count; i++) lane.ready.push({ claim: { id: newId('dlv') } as unknown as Claim, work: null })
}
/** How many jobs it lets start at once. */
const startable = (lane: Lane<null>, now = performance.now()) => {
  let started = 0
  for (; lane.mayStart(now); started++) lane.start()
  return started
}

test('a lane widens by one when as many jobs as it is wide went well, up to its limit', () => {
  const lane = laneOf(2, 4)
  addReady(lane, 100)
  expect(startable(lane)).toBe(2)
  const widths = Array.from({ length: 12 }, () => {
    lane.answered()
    lane.wentWell(true)
    startable(lane)
    return lane.inFlight
  })
  expect(widths.slice(0, 3)).toEqual([2, 2, 3])
  expect(widths.at(-1)).toBe(4)
})

test('where width would not help it stays as it is', () => {
  const lane = laneOf(2, 16)
  addReady(lane, 100)
  for (let i = 0; i < 50; i++) lane.wentWell(false)
  expect(startable(lane)).toBe(2)
})

test('a lane that fails is probed alone, and with pauses when it goes on failing, until it answers', () => {
  const lane = laneOf(4, 16)
  addReady(lane, 100)
  expect(lane.wentIll()).toBe(0)
  expect(startable(lane)).toBe(1)
  lane.answered()
  const pauses = Array.from({ length: 1_000 }, () => lane.wentIll())
  expect([pauses[400], pauses[510], pauses.at(-1)]).toEqual([0, 11, 200])
  expect(startable(lane)).toBe(0)
  expect(startable(lane, performance.now() + 201)).toBe(1)
  lane.answered()
  lane.wentWell(true)
  expect(lane.wentIll()).toBe(0)
})

test('at rest it asks again by itself, and is left when nothing came for a while', () => {
  const lane = laneOf(4, 16)
  const now = performance.now()
  lane.nextRead(now, share)
  expect([lane.wantsToRead(now, share), lane.wantsToRead(now + 251, share)]).toEqual([false, true])
  expect([lane.isLeft(now - 1_000), lane.isLeft(now + 1_000)]).toEqual([false, true])
  lane.hungry = true
  expect([lane.wantsToRead(now, share), lane.isLeft(now + 1_000)]).toEqual([true, false])
})

test('it reads one width ahead, but not more than its share of what the process works on', () => {
  const now = performance.now()
  const limits = [share, 3].map((each) => laneOf(8, 16).nextRead(now, each).limit)
  expect(limits).toEqual([16, 6])
  const lane = laneOf(8, 16)
  addReady(lane, 3)
  expect([lane.wantsToRead(now, 3), lane.wantsToRead(now, 4)]).toEqual([false, true])
  expect(lane.nextRead(now, 4).limit).toBe(5)
})

test('a row is taken once, however often it is read', () => {
  const lane = laneOf(4, 16)
  const id = newId('dlv')
  const dueAt = new Date()
  expect([lane.takesRow(id, dueAt), lane.takesRow(id, dueAt)]).toEqual([true, false])
  lane.forget(id)
  expect(lane.takesRow(id, dueAt)).toBe(true)
})

test('a job that ends while a read is under way is not taken from it again', () => {
  const lane = laneOf(4, 16)
  const id = newId('dlv')
  const dueAt = new Date()
  lane.takesRow(id, dueAt)
  lane.nextRead(performance.now(), share)
  lane.forget(id)
  expect(lane.takesRow(id, dueAt)).toBe(false)
  lane.endRead()
  expect(lane.takesRow(id, dueAt)).toBe(true)
})
