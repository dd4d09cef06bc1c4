import { pino } from 'pino'
import { expect, test } from 'vitest'
import { emails, fill, opener, reactionOf } from '../../../test/support/broadcasts.ts'
import { createWorld, eventIn } from '../../../test/support/event-world.ts'
import { failureLog } from '../../../test/support/failure-log.ts'
import { startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { createTestDb } from '../../../test/support/test-db.ts'
import { until } from '../../../test/support/until.ts'
import { recordEvents } from '../../events/recording/record.ts'
import { createBoundedRead } from '../../platform/db/bounded-read.ts'
import { createBoundedWork } from '../../platform/db/bounded-work.ts'
import { createDatabaseStages } from '../../platform/db/stages.ts'
import { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import { newId, parseId } from '../../platform/values/ids.ts'
import { findBroadcast } from '../broadcasts.sql.ts'
import { BroadcastResults, countWork } from './results.ts'

/** Keeps which works failed, as they are logged. */
function openLog() {
  const failed: unknown[] = []
  const write = (line: string) => {
    const { level, work } = JSON.parse(line)
    if (level === 50) failed.push(work)
  }
  return { failed, log: pino({ level: 'error' }, { write }) }
}

/** A sent broadcast with three recipients that counts as a large one. */
async function sendLarge(app: TestApp) {
  const { flow, group, create } = await fill(app)
  const broadcast = await create([await group('Readers', emails('reader', 3))])
  await broadcast.start()
  await broadcast.ended()
  await app.db.statement`update broadcasts set recipients = 1000000 where id = ${parseId('brc', broadcast.id)!}`
  const path = `/organization/broadcasts/${broadcast.id}`
  const { body } = await app.manage('GET', `${path}/recipients`)
  return { broadcast, path, flow, recipients: body.data, open: opener(app, flow) }
}

test('the results of a large broadcast are counted in the background, and requests get the last ones', async () => {
  const { failed, log } = openLog()
  await using app = await startTestApp({}, undefined, { log })
  const { broadcast, path, flow, recipients, open } = await sendLarge(app)
  const { results, results_counted_at: atTheEnd } = await until('the count at the end', async () => {
    const counted = await broadcast.get()
    return counted.results_counted_at !== null && counted
  })
  expect(results).toMatchObject({ opened: 0, not_opened: 3 })
  expect((await broadcast.get()).results_outdated).toBe(false)
  await open(recipients[0])
  // Current for five seconds.
  expect((await broadcast.get()).results.opened).toBe(0)
  await app.db.statement`update broadcast_results set counted_at = ${new Date(Date.parse(atTheEnd) - 3_600_000)}`
  const stale = await broadcast.get()
  expect([stale.results.opened, stale.results_outdated]).toEqual([0, true])
  expect(Date.parse(atTheEnd) - Date.parse(stale.results_counted_at)).toBe(3_600_000)
  await until('the new count', async () => (await broadcast.get()).results.opened === 1)
  expect((await app.manage('GET', `${path}/hours`)).body.data.hours[0]).toEqual({ hour: 0, opened: 1, clicked: 0 })

  await app.db.statement`delete from broadcast_results`
  const never = await broadcast.get()
  expect([never.results.opened, never.results_counted_at, never.results_outdated]).toEqual([0, null, true])
  await until('the first count', async () => (await broadcast.get()).results_counted_at !== null)
  const [inList] = (await app.manage('GET', '/organization/broadcasts')).body.data
  expect([inList.results.opened, inList.results_counted_at]).toEqual([1, (await broadcast.get()).results_counted_at])

  // When events are deleted, the links stay as they were counted before.
  const link = 'https://example.com/news'
  const clicked = reactionOf(app, flow, recipients[0], { eventName: 'emailClick', data: { url: link } })
  await app.db.begin((tx) => recordEvents(tx, [clicked]))
  const countAgain = async () => {
    await app.db.statement`update broadcast_results set counted_at = counted_at - interval '1 hour'`
    const before = (await broadcast.get()).results_counted_at
    await until('a new count', async () => (await broadcast.get()).results_counted_at !== before)
  }
  const linksOf = async () => {
    const { links_complete: isComplete } = await broadcast.get()
    return [isComplete, (await app.manage('GET', `${path}/links`)).body.data]
  }
  await countAgain()
  const links = [{ url: link, clicks: 1, contacts: 1 }]
  expect(await linksOf()).toEqual([true, links])
  await app.db.statement`insert into events_kept (since) values (now())`
  await app.db.statement`delete from events`
  await countAgain()
  expect(await linksOf()).toEqual([false, links])
  await app.db.statement`update broadcasts set recipients = 3`
  expect(await linksOf()).toEqual([false, links])
  const compared = (await app.manage('GET', `/organization/broadcasts/compare?ids=${broadcast.id}`)).body.data
  expect(compared).toMatchObject([{ sent: 3, delivered: 3, opened: 1, clicked: 1 }])

  // A count at the end that fails is logged, and repeated when somebody asks for the results.
  expect(failed).toEqual([])
  await app.db.statement`alter table broadcast_results rename column count_ms to renamed`
  const copy = (await broadcast.act('duplicate')).body.data
  await app.manage('POST', `/organization/broadcasts/${copy.id}/start`, {})
  await until('the failed count to be logged', () => failed.includes(countWork))
  expect((await app.manage('GET', `/organization/broadcasts/${copy.id}`)).body.data.status).toBe('sent')
})

test('one broadcast of an organization is counted at a time, and a count that fails is not repeated at once', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const world = await createWorld(db, { messages: 2 })
  const { organizationId } = world
  const ids = [newId('brc'), newId('brc')] as const
  for (const id of ids)
    await db.statement`
      insert into broadcasts (organization_id, id, name, status, recipients, started_at)
      values (${organizationId}, ${id}, 'Large', 'sent', 1000000, now() - interval '1 hour')`
  await db.statement`
    insert into broadcast_recipients (organization_id, broadcast_id, contact_id, message_id, status)
    select organization_id, ${ids[0]}, contact_id, id, 'sent' from messages`
  await db.begin((tx) => recordEvents(tx, [eventIn(world, 0, 'emailOpen', {})]))
  const stages = createDatabaseStages(new StageRegistry(), 10)
  const slices: unknown[] = []
  let fail: (error: Error) => void = () => {}
  const failing = new Promise<never>((_, reject) => {
    fail = reject
  })
  const { failed, log } = openLog()
  const bounded = createBoundedWork(db, stages.work)
  const results = new BroadcastResults({
    db,
    failures: failureLog(log),
    read: createBoundedRead(db, stages.queries),
    work: (id, slice) => (slices.push(id) === 1 ? failing : bounded(id, slice)),
  })
  const [large, other] = await Promise.all(ids.map((id) => findBroadcast(db, organizationId, id)))
  const none = await results.get(large!)
  expect([none.countedAt, none.reactions.totals.opened]).toEqual([null, 0])
  // A list of both: one is in progress, and the other waits.
  expect(await results.list(organizationId, [large!, other!])).toMatchObject([{ countedAt: null }, { countedAt: null }])
  await until('the first count', async () => slices.length === 1)
  fail(new Error('The connection was lost.'))
  await until('the other count', async () => (await db`select from broadcast_results`).length === 1)
  expect(failed).toEqual([countWork])
  const counted = slices.length
  await results.get(large!)
  await results.stop()
  expect(slices).toHaveLength(counted)
  expect(await db`select broadcast_id from broadcast_results`).toEqual([{ broadcastId: ids[1] }])
})
