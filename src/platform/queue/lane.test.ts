import { expect, test } from 'vitest'
import { newId } from '../values/ids.ts'
import { Lane } from './lane.ts'
import type { Claim } from './queue.ts'

const organizationId = newId('org')
const share = 100
const laneOf = (first: number, max: number, leasedUntil = Number.POSITIVE_INFINITY) =>
  new Lane<null>({ organizationId, lane: 'lane' }, '00000000-0000-4000-8000-000000000000', { first, max }, leasedUntil)
const addReady = (lane: Lane<null>, count: number) => {
  for (let i = 0; i < count; i++) lane.ready.push({ claim: { id: newId('dlv') } as unknown as Claim, work: null })
}
/** Returns how many jobs can be started at once. */
const startable = (lane: Lane<null>, now = performance.now()) => {
  let started = 0
  for (; lane.canStart(now); started++) lane.start()
  return started
}

test('widens by one after as many responses as it is wide, up to its limit', () => {
  const lane = laneOf(2, 4)
  addReady(lane, 100)
  expect(startable(lane)).toBe(2)
  const widths = Array.from({ length: 12 }, () => {
    lane.finish()
    lane.peerResponded(true)
    startable(lane)
    return lane.running
  })
  expect(widths.slice(0, 3)).toEqual([2, 2, 3])
  expect(widths.at(-1)).toBe(4)
})

test('does not widen if that would not help', () => {
  const lane = laneOf(2, 16)
  addReady(lane, 100)
  for (let i = 0; i < 50; i++) lane.peerResponded(false)
  expect(startable(lane)).toBe(2)
})

test('starts and reads no job if its lease ends soon', () => {
  const now = performance.now()
  const lane = laneOf(2, 2, now + 10_000)
  addReady(lane, 1)
  expect([lane.shouldRead(now + 8_000, share), startable(lane, now + 8_000)]).toEqual([false, 0])
  expect([lane.shouldRead(now + 6_000, share), startable(lane, now + 6_000)]).toEqual([true, 1])
  addReady(lane, 1)
  lane.leasedUntil = now + 20_000
  expect([lane.shouldRead(now + 8_000, share), startable(lane, now + 8_000)]).toEqual([true, 1])
})

test('narrows to single probes after a failure, and pauses between them after many failures', () => {
  const lane = laneOf(4, 16)
  addReady(lane, 100)
  expect(lane.peerFailed()).toBe(0)
  expect(startable(lane)).toBe(1)
  lane.finish()
  const before = performance.now()
  const pauses = Array.from({ length: 1_000 }, () => lane.peerFailed())
  expect([pauses[400], pauses[510], pauses.at(-1)]).toEqual([0, 11, 200])
  expect(startable(lane, before)).toBe(0)
  expect(startable(lane, performance.now() + 201)).toBe(1)
  lane.finish()
  lane.peerResponded(true)
  expect(lane.peerFailed()).toBe(0)
})

test('is read again when a postponed job is due, at least every two seconds, and is unused after a while', () => {
  const lane = laneOf(4, 16)
  const now = performance.now()
  lane.nextRead(now, share)
  const readsAfter = (...waitsMs: number[]) => waitsMs.map((ms) => lane.shouldRead(now + ms, share))
  expect(readsAfter(0, 500, 2_001)).toEqual([false, false, true])
  lane.dueIn(200)
  expect(readsAfter(0, 500)).toEqual([false, true])
  lane.nextRead(now + 500, share)
  expect(readsAfter(500)).toEqual([false])
  expect([lane.isUnused(now - 1_000), lane.isUnused(now + 1_000)]).toEqual([false, true])
  lane.hasMore = true
  expect([lane.shouldRead(now, share), lane.isUnused(now + 1_000)]).toEqual([true, false])
})

test('reads one width ahead, but not more than its share of the jobs in flight', () => {
  const now = performance.now()
  const limits = [share, 3].map((each) => laneOf(8, 16).nextRead(now, each).limit)
  expect(limits).toEqual([16, 6])
  const lane = laneOf(8, 16)
  addReady(lane, 3)
  expect([lane.shouldRead(now, 3), lane.shouldRead(now, 4)]).toEqual([false, true])
  expect(lane.nextRead(now, 4).limit).toBe(5)
})

test('adds a row once, however often it is read', () => {
  const lane = laneOf(4, 16)
  const id = newId('dlv')
  const dueAt = new Date()
  expect([lane.addRow(id, dueAt), lane.addRow(id, dueAt)]).toEqual([true, false])
  lane.remove(id)
  expect(lane.addRow(id, dueAt)).toBe(true)
})

test('does not add a job that ended while the read was running', () => {
  const lane = laneOf(4, 16)
  const id = newId('dlv')
  const dueAt = new Date()
  lane.addRow(id, dueAt)
  lane.nextRead(performance.now(), share)
  lane.remove(id)
  expect(lane.addRow(id, dueAt)).toBe(false)
  lane.endRead()
  expect(lane.addRow(id, dueAt)).toBe(true)
})
