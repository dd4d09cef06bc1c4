import { expect, test } from 'vitest'
import { click, createWebhook, createWorld, eventIn, record, storedCounts } from '../../../test/support/event-world.ts'
import { createTestDb, openAgain } from '../../../test/support/test-db.ts'
import { Hints } from '../../platform/queue/hints.ts'
import { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import type { BounceDetail } from '../../platform/values/event-types.ts'
import { newId } from '../../platform/values/ids.ts'
import { addPendingCounts } from './pending-counts.ts'
import { rebuildCounters } from './rebuild.ts'
import { derivedEventId, EventRecorder } from './record.ts'

const bounce = (type: 'hard' | 'soft', reason = 'no such user'): BounceDetail => ({
  type,
  status: '5.1.1',
  reply_code: 550,
  reason,
  diagnostic: null,
})

test('an event is written with its counters, in every grain, for its flow and for all flows', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const world = await createWorld(db)
  const { organizationId, flowIds } = world
  const event = eventIn(world, 0, 'emailOpen', { at: '2026-03-01T10:40:00Z' })
  expect(await record(db, [event])).toEqual([event.id])

  const counters = await db`
    select flow_id, grain, starts_at, total, uniques, machine from event_counters
    where organization_id = ${organizationId} order by flow_id, starts_at`
  const nil = '00000000-0000-0000-0000-000000000000'
  const one = { total: 1, uniques: 1, machine: 0 }
  expect(counters).toEqual(
    [nil, flowIds[0]].flatMap((flowId) => [
      { flowId, grain: 'day', startsAt: new Date('2026-03-01T00:00:00Z'), ...one },
      { flowId, grain: 'quarter', startsAt: new Date('2026-03-01T10:30:00Z'), ...one },
    ]),
  )
})

test('recording an event again has no effect, in the same batch or later', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const world = await createWorld(db)
  await createWebhook(db, world.organizationId)
  const event = eventIn(world, 0, 'emailHardBounce', { data: { bounce: bounce('hard') } })
  expect(await record(db, [event, event])).toEqual([event.id])
  await db.statement`update messages set status = 'sent'`
  await db.statement`delete from suppressions`
  expect(await record(db, [event])).toEqual([])

  expect(await storedCounts(db, world.organizationId, 'emailHardBounce')).toEqual({ total: 1, unique: 1, machine: 0 })
  expect(await db`select status from messages`).toEqual([{ status: 'sent' }])
  expect(await db`select from suppressions`).toHaveLength(0)
  expect(await db`select from deliveries`).toHaveLength(1)
  expect(await db`select from jobs`).toHaveLength(1)
})

test('a derived id is stable, differs by kind and contains the time', () => {
  const messageId = newId('msg')
  expect(derivedEventId(messageId, 'sent')).toBe(derivedEventId(messageId, 'sent'))
  expect(derivedEventId(messageId, 'sent')).not.toBe(derivedEventId(messageId, 'bounce'))
  expect(derivedEventId(messageId, 'sent')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(derivedEventId(messageId, 'sent').slice(0, 13)).toBe(messageId.slice(0, 13))
})

test('a message counts once, at its first human occurrence, for any order of events', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const world = await createWorld(db)
  const at = (day: number) => `2026-03-0${day}T12:00:00Z`
  await record(db, [eventIn(world, 0, 'emailOpen', { at: at(5) })])
  await record(db, [eventIn(world, 0, 'emailOpen', { at: at(1), machine: true })])
  await record(db, [eventIn(world, 0, 'emailOpen', { at: at(4) }), eventIn(world, 0, 'emailOpen', { at: at(2) })])
  await record(db, [eventIn(world, 0, 'emailOpen', { at: at(3) })])

  const days = await db`
    select extract(day from starts_at)::int as day, total, uniques, machine from event_counters
    where grain = 'day' and flow_id = ${world.flowIds[0]} order by 1`
  expect(days).toEqual([
    { day: 1, total: 1, uniques: 0, machine: 1 },
    { day: 2, total: 1, uniques: 1, machine: 0 },
    { day: 3, total: 1, uniques: 0, machine: 0 },
    { day: 4, total: 1, uniques: 0, machine: 0 },
    { day: 5, total: 1, uniques: 0, machine: 0 },
  ])
})

test('a bounce recorded before emailSent stays, and sent_at is set', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const world = await createWorld(db, { messages: 3 })
  const sent = (index: number) => eventIn(world, index, 'emailSent', { at: '2026-03-01T10:00:00Z' })
  const bounced = (index: number, type: 'hard' | 'soft', reason: string) =>
    eventIn(world, index, type === 'hard' ? 'emailHardBounce' : 'emailSoftBounce', {
      data: { bounce: bounce(type, reason) },
    })
  await record(db, [bounced(0, 'hard', 'no such user')])
  await record(db, [sent(0), sent(1), bounced(1, 'soft', 'mailbox full')])
  await record(db, [bounced(1, 'hard', 'no such user'), bounced(0, 'soft', 'busy'), sent(2)])

  const sentAt = new Date('2026-03-01T10:00:00Z')
  expect(await db`select status, reason, sent_at from messages order by id`).toEqual([
    { status: 'bounced', reason: 'no such user', sentAt },
    { status: 'bounced', reason: 'no such user', sentAt },
    { status: 'sent', reason: null, sentAt },
  ])
})

test('hard bounces, complaints and unsubscriptions suppress the address; soft bounces do not', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const world = await createWorld(db, { messages: 4 })
  await record(db, [
    eventIn(world, 0, 'emailHardBounce', { data: { bounce: bounce('hard') } }),
    eventIn(world, 1, 'emailComplaint', { data: { feedback_type: 'abuse' } }),
    eventIn(world, 2, 'contactUnsubscribe', { at: '2026-03-02', data: { method: 'page' }, aboutContact: true }),
    eventIn(world, 2, 'contactUnsubscribe', { at: '2026-03-01', data: { method: 'one_click' } }),
    eventIn(world, 3, 'emailSoftBounce', { data: { bounce: bounce('soft') } }),
  ])
  const [hard, complained, unsubscribed] = world.messages
  expect(await db`select email, email_key, reason, detail, message_id from suppressions order by reason`).toEqual([
    { ...addressOf(complained!.email), reason: 'complaint', detail: 'abuse', messageId: complained!.id },
    { ...addressOf(hard!.email), reason: 'hard_bounce', detail: 'no such user', messageId: hard!.id },
    { ...addressOf(unsubscribed!.email), reason: 'unsubscribe', detail: 'one_click', messageId: unsubscribed!.id },
  ])
  expect(await db`select subscription from contacts order by id`).toEqual(
    ['subscribed', 'subscribed', 'unsubscribed', 'subscribed'].map((subscription) => ({ subscription })),
  )
})

const addressOf = (email: string) => ({ email, emailKey: email.toLowerCase() })

test('a bounce suppresses the address of the message, not the current one of the contact', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const world = await createWorld(db)
  await db.statement`update contacts set email = 'right@example.com', email_key = 'right@example.com'`
  await record(db, [eventIn(world, 0, 'emailHardBounce', { data: { bounce: bounce('hard') } })])
  expect(await db`select email, email_key from suppressions`).toEqual([addressOf(world.messages[0]!.email)])
})

test('unsubscribing after a change of address suppresses the new address', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const world = await createWorld(db)
  await db.statement`update contacts set email = 'new@example.com', email_key = 'new@example.com'`
  await record(db, [eventIn(world, 0, 'contactUnsubscribe', { data: { method: 'page' } })])
  expect(await db`select email, email_key from suppressions`).toEqual([addressOf('new@example.com')])
})

test('of two bounces in one batch the hard one sets the reason, and suppressions stay', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const world = await createWorld(db, { messages: 2 })
  await db.statement`update messages set status = 'suppressed', reason = 'manual' where id = ${world.messages[1]!.id}`
  await record(db, [
    eventIn(world, 0, 'emailSoftBounce', { at: '2026-03-01', data: { bounce: { ...bounce('soft'), reason: 'full' } } }),
    eventIn(world, 0, 'emailHardBounce', { at: '2026-03-02', data: { bounce: bounce('hard') } }),
    eventIn(world, 1, 'emailHardBounce', { data: { bounce: bounce('hard') } }),
  ])
  expect(await db`select status, reason from messages order by id`).toEqual([
    { status: 'bounced', reason: 'no such user' },
    { status: 'suppressed', reason: 'manual' },
  ])
})

test('each subscribed webhook gets a delivery and a job; a paused one gets a failed delivery to replay', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const world = await createWorld(db)
  const other = await createWorld(db)
  await createWebhook(db, world.organizationId)
  await createWebhook(db, world.organizationId, { eventTypes: ['emailClick'] })
  await createWebhook(db, world.organizationId, { status: 'paused' })
  await createWebhook(db, other.organizationId)
  await record(db, [eventIn(world, 0, 'emailOpen'), click(world, 0, 'a')])

  expect(await db`select organization_id, event_name, status from deliveries order by status, event_name`).toEqual(
    [
      ['emailClick', 'failed'],
      ['emailOpen', 'failed'],
      ['emailClick', 'pending'],
      ['emailClick', 'pending'],
      ['emailOpen', 'pending'],
    ].map(([eventName, status]) => ({ organizationId: world.organizationId, eventName, status })),
  )
  expect(await db`select from jobs join deliveries using (organization_id, id) where status = 'pending'`).toHaveLength(
    3,
  )
})

test('the recorder returns whether each event was new, and notifies workers of deliveries', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const world = await createWorld(db)
  const hints = new Hints(db)
  let hinted = 0
  hints.on('webhook.deliver', { due: () => hinted++ })
  const recorder = new EventRecorder({ db, stages: new StageRegistry() })
  const event = eventIn(world, 0, 'emailOpen')
  expect(await Promise.all([recorder.record(event), recorder.record(event)])).toEqual([true, false])
  expect(hinted).toBe(0)
  await createWebhook(db, world.organizationId)
  expect(await recorder.record(click(world, 0, 'a'))).toBe(true)
  expect(hinted).toBe(1)
  await hints.stop()
})

test('an event that the database rejects fails alone', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const world = await createWorld(db)
  const recorder = new EventRecorder({ db, stages: new StageRegistry() })
  // A flow without a message cannot be counted.
  const bad = { ...eventIn(world, 0, 'emailOpen'), messageId: null }
  const events = [eventIn(world, 0, 'emailOpen'), bad, eventIn(world, 0, 'emailOpen'), eventIn(world, 0, 'emailOpen')]
  const settled = await Promise.allSettled(events.map((event) => recorder.record(event)))
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
  expect(await storedCounts(db, world.organizationId, 'emailOpen')).toEqual({ total: 3, unique: 1, machine: 0 })
})

test('characters that PostgreSQL cannot store are removed from diagnostics', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const world = await createWorld(db)
  const diagnostic = '550 \0 no \ud800 such “user” 😀 \\u0000'
  const event = eventIn(world, 0, 'emailSoftBounce', { data: { bounce: { ...bounce('soft'), diagnostic } } })
  expect(await record(db, [event])).toEqual([event.id])
  const [row] = await db<{ diagnostic: string }>`select data #>> '{bounce,diagnostic}' as diagnostic from events`
  expect(row!.diagnostic).toBe('550  no \ufffd such “user” 😀 \\u0000')
})

test('recorders in several processes neither lose nor double counts, nor deadlock', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const world = await createWorld(db, { messages: 20, flows: 3 })
  const others = openAgain(testDb, 3)
  const recorders = others.map((each) => new EventRecorder({ db: each, stages: new StageRegistry() }))
  const events = Array.from({ length: 600 }, (_, index) => {
    const at = new Date(Date.UTC(2026, 2, 1) + ((index * 7919) % 600) * 60_000)
    const message = (index * 31) % world.messages.length
    return index % 3 === 0
      ? click(world, message, String(index % 5), { at })
      : eventIn(world, message, 'emailOpen', { at })
  })
  // Every event is passed to two of them, in different orders.
  const results = await Promise.all([
    ...events.map((event, index) => recorders[index % 3]!.record(event)),
    ...events.toReversed().map((event, index) => recorders[(index + 1) % 3]!.record(event)),
  ])
  expect(results.filter(Boolean)).toHaveLength(events.length)
  expect(await rebuildCounters(db)).toMatchObject({ countersDifferent: 0, firstsDifferent: 0 })
  await addPendingCounts(db)
  expect((await storedCounts(db, world.organizationId, 'emailOpen')).total).toBe(400)
  await Promise.all(others.map((each) => each.close()))
})
