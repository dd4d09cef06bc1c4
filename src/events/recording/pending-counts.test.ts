import { expect, test } from 'vitest'
import { click, createWorld, eventIn, storedCounts, type World } from '../../../test/support/event-world.ts'
import { oneServerTest } from '../../../test/support/server-tests.ts'
import { startTestApp } from '../../../test/support/test-app.ts'
import { createTestDb, openAgain } from '../../../test/support/test-db.ts'
import { until } from '../../../test/support/until.ts'
import type { Db } from '../../platform/db/db.ts'
import { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import { addPendingCounts } from './pending-counts.ts'
import { rebuildCounters } from './rebuild.ts'
import { EventRecorder } from './record.ts'

const healthy = { countersDifferent: 0, firstsDifferent: 0 }

/** The events of ten organizations change a hundred counters. */
async function createWorlds(db: Db): Promise<World[]> {
  const worlds: World[] = []
  for (let index = 0; index < 12; index++) worlds.push(await createWorld(db, { messages: 4 }))
  return worlds
}

const countPending = async (db: Db) => (await db`select from pending_counts`).length

oneServerTest(
  'the counters of many organizations are changed after the commit, and a recount knows what is pending',
  async () => {
    await using testDb = await createTestDb()
    const { db } = testDb
    const worlds = await createWorlds(db)
    const recorder = new EventRecorder({ db, stages: new StageRegistry() })
    await addPendingCounts(db)
    const events = worlds.flatMap((world) => [eventIn(world, 0, 'emailOpen'), click(world, 1, 'a')])
    await Promise.all(events.map((event) => recorder.record(event)))
    expect(await countPending(db)).toBe(worlds.length)
    expect(await rebuildCounters(db)).toMatchObject({ ...healthy, corrected: false })

    await db.statement`delete from event_counters`
    await db.statement`insert into event_counters values
    (${worlds[0]!.organizationId}, 'emailOpen', ${worlds[0]!.flowIds[0]}, 'day', '2026-01-01', 1, 1, 0)`
    expect(await rebuildCounters(db)).toMatchObject({ countersDifferent: 1, corrected: true })
    await addPendingCounts(db)
    expect(await countPending(db)).toBe(0)
    for (const { organizationId } of worlds)
      for (const name of ['emailOpen', 'emailClick'] as const)
        expect(await storedCounts(db, organizationId, name)).toEqual({ total: 1, unique: 1, machine: 0 })
    expect(await rebuildCounters(db)).toMatchObject({ ...healthy, corrected: false })
  },
)

test('pending counts are neither lost nor doubled while several processes record and add them', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const worlds = await createWorlds(db)
  const others = openAgain(testDb, 2)
  const rounds = 5
  await Promise.all(
    others.map(async (other) => {
      const recorder = new EventRecorder({ db: other, stages: new StageRegistry() })
      for (let round = 0; round < rounds; round++) {
        await Promise.all(worlds.map((world) => recorder.record(eventIn(world, round % 4, 'emailOpen'))))
        await addPendingCounts(other)
      }
      await other.close()
    }),
  )
  await addPendingCounts(db)
  expect(await countPending(db)).toBe(0)
  for (const { organizationId } of worlds)
    expect(await storedCounts(db, organizationId, 'emailOpen')).toEqual({ total: 2 * rounds, unique: 4, machine: 0 })
  expect(await rebuildCounters(db)).toMatchObject(healthy)
})

test('the running service adds pending counts', async () => {
  await using app = await startTestApp()
  const world = await createWorld(app.db, { messages: 20, flows: 20 })
  const recorder = new EventRecorder({ db: app.db, stages: new StageRegistry() })
  await Promise.all(world.messages.map((_, index) => recorder.record(eventIn(world, index, 'emailOpen'))))
  await until('the counts', async () => (await storedCounts(app.db, world.organizationId, 'emailOpen')).total === 20)
})
