import { expect, test } from 'vitest'
import { asDistributed, collectStatements } from '../../../test/support/as-distributed.ts'
import {
  click,
  createWebhook,
  createWorld,
  eventIn,
  record,
  storedCounts,
  type World,
} from '../../../test/support/event-world.ts'
import { createTestDb } from '../../../test/support/test-db.ts'
import type { Db } from '../../platform/db/db.ts'
import { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import { rebuildCounters } from './rebuild.ts'
import { EventRecorder } from './record.ts'

async function createWorlds(db: Db, number: number): Promise<World[]> {
  const worlds: World[] = []
  for (let index = 0; index < number; index++) {
    const world = await createWorld(db, { messages: 3 })
    await createWebhook(db, world.organizationId)
    worlds.push(world)
  }
  return worlds
}

test('events of many organizations are recorded in one transaction for each node', async () => {
  await using testDb = await createTestDb()
  const db = await asDistributed(testDb.db)
  const worlds = await createWorlds(db, 12)
  const recorder = new EventRecorder({ db, stages: new StageRegistry() })
  // The values of the day are stored by the first events of a flow.
  await Promise.all(worlds.map((world) => recorder.record(eventIn(world, 0, 'emailOpen'))))
  using statements = collectStatements()
  const opens = worlds.flatMap((world) => [eventIn(world, 1, 'emailOpen'), eventIn(world, 2, 'emailOpen')])
  expect(await Promise.all(opens.map((event) => recorder.record(event)))).toEqual(opens.map(() => true))
  expect(statements.texts.filter((text) => /insert into events\b/.test(text))).toHaveLength(2)
  for (const { organizationId } of worlds)
    expect(await storedCounts(db, organizationId, 'emailOpen')).toEqual({ total: 3, unique: 3, machine: 0 })
  expect(await db`select from deliveries`).toHaveLength(36)
  expect(await db`select from jobs`).toHaveLength(36)
})

test('an event that was recorded before does not keep the others of its batch from being recorded', async () => {
  await using testDb = await createTestDb()
  const db = await asDistributed(testDb.db)
  const worlds = await createWorlds(db, 6)
  const recorder = new EventRecorder({ db, stages: new StageRegistry() })
  const [known, ...rest] = worlds.map((world) => eventIn(world, 0, 'emailOpen'))
  await record(db, [known!])
  const results = await Promise.all([known!, known!, ...rest, rest[0]!].map((event) => recorder.record(event)))
  expect(results).toEqual([false, false, ...rest.map(() => true), false])
  for (const { organizationId } of worlds)
    expect(await storedCounts(db, organizationId, 'emailOpen')).toEqual({ total: 1, unique: 1, machine: 0 })
  expect(await db`select from deliveries`).toHaveLength(6)
})

test('first occurrences and bursts of clicks are the same as on one server', async () => {
  await using testDb = await createTestDb()
  const db = await asDistributed(testDb.db)
  const worlds = await createWorlds(db, 4)
  const recorder = new EventRecorder({ db, stages: new StageRegistry() })
  const at = (second: number) => new Date(Date.UTC(2026, 2, 1, 10, 0, second))
  const steps = (world: World) => [
    [eventIn(world, 0, 'emailOpen', { at: at(30) }), click(world, 1, 'a', { at: at(1) })],
    [eventIn(world, 0, 'emailOpen', { at: at(40) }), click(world, 1, 'b', { at: at(2) })],
    [eventIn(world, 0, 'emailOpen', { at: '2026-02-28T23:59:00Z' }), click(world, 1, 'c', { at: at(3) })],
    [eventIn(world, 2, 'contactUnsubscribe', { aboutContact: true, data: { method: 'page' } })],
  ]
  for (let step = 0; step < 4; step++)
    await Promise.all(worlds.flatMap((world) => steps(world)[step]!.map((event) => recorder.record(event))))
  for (const { organizationId } of worlds) {
    expect(await storedCounts(db, organizationId, 'emailOpen')).toEqual({ total: 3, unique: 1, machine: 0 })
    expect(await storedCounts(db, organizationId, 'emailClick')).toEqual({ total: 3, unique: 0, machine: 3 })
    expect(await storedCounts(db, organizationId, 'contactUnsubscribe')).toEqual({ total: 1, unique: 1, machine: 0 })
  }
  expect(await db`select from suppressions`).toHaveLength(4)
  expect(await rebuildCounters(db)).toMatchObject({ countersDifferent: 0, firstsDifferent: 0 })
})
