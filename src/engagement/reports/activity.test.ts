import fc from 'fast-check'
import { expect, test } from 'vitest'
import { click, createWorld, createWorldIn, eventIn, record, type World } from '../../../test/support/event-world.ts'
import { startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { createTestDb } from '../../../test/support/test-db.ts'
import { derivedEventId, type NewEvent } from '../../events/recording/record.ts'
import { readPage } from '../../platform/http/paging.ts'
import { type EventName, eventNames } from '../../platform/values/event-types.ts'
import { type ContactId, type FlowId, newId, toText } from '../../platform/values/ids.ts'
import { activityCursor, listActivity } from './activity.ts'

const list = (app: TestApp, query: Record<string, string> = {}) =>
  app.manage('GET', `/organization/events?${new URLSearchParams(query)}`)

test('an event is listed with its flow, contact and data', async () => {
  await using app = await startTestApp()
  const world = await createWorldIn(app)
  const event = click(world, 0, 'a', { at: '2026-03-01T12:00:00.123Z', machine: true })
  await record(app.db, [event])
  const [message] = world.messages
  expect((await list(app)).body).toEqual({
    code: 200,
    status: 'success',
    message: 'OK',
    next_cursor: null,
    data: [
      {
        id: toText('evt', event.id),
        event_name: 'emailClick',
        occurred_at: '2026-03-01T12:00:00.123Z',
        machine: true,
        machine_reason: 'scanner',
        message_id: toText('msg', message!.id),
        flow_id: toText('flw', message!.flowId),
        flow_name: 'Flow 1',
        contact: { id: toText('con', message!.contactId), email: message!.email, first_name: 'Ada' },
        data: { url: 'https://shop.example/a', user_agent: null },
      },
    ],
  })
})

test('missing messages and erased contacts are null', async () => {
  await using app = await startTestApp()
  const world = await createWorldIn(app)
  await record(app.db, [eventIn(world, 0, 'contactUnsubscribe', { aboutContact: true, data: { method: 'api' } })])
  await app.db.statement`delete from contacts`
  expect((await list(app)).body.data).toMatchObject([
    { message_id: null, flow_id: null, flow_name: null, contact: null, data: { method: 'api' } },
  ])
})

test('a bounce is listed at its time, although its id has the time of its message', async () => {
  await using app = await startTestApp()
  const world = await createWorldIn(app)
  const messageId = world.messages[0]!.id
  const open = eventIn(world, 0, 'emailOpen', { at: new Date(Date.now() + 60_000) })
  const bounce = eventIn(world, 0, 'emailSoftBounce', {
    at: new Date(Date.now() + 120_000),
    id: derivedEventId(messageId, 'bounce'),
  })
  await record(app.db, [open, bounce])
  expect((await list(app)).body.data.map((event: { id: string }) => event.id)).toEqual(
    [bounce, open].map(({ id }) => toText('evt', id)),
  )
  // A live list that has seen the open receives it as well.
  const newer = await list(app, { after: toText('evt', open.id) })
  expect(newer.body.data).toMatchObject([{ id: toText('evt', bounce.id) }])
  expect((await list(app, { after: toText('evt', bounce.id) })).body.data).toEqual([])
})

type Filter = { eventName?: EventName; flowId?: FlowId; contactId?: ContactId; machine?: boolean }

function expected(events: NewEvent[], filter: Filter): string[] {
  return events
    .filter(({ eventName }) => !filter.eventName || eventName === filter.eventName)
    .filter(({ flowId }) => !filter.flowId || flowId === filter.flowId)
    .filter(({ contactId }) => !filter.contactId || contactId === filter.contactId)
    .filter(({ machine }) => filter.machine === undefined || machine === filter.machine)
    .sort((a, b) => +b.occurredAt - +a.occurredAt || (a.id < b.id ? 1 : -1))
    .map(({ id }) => id)
}

test('pages contain every matching event once, newest first, for all filters', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const world: World = await createWorld(db, { messages: 6, flows: 3 })
  const other = await createWorld(db)
  // Dense and sparse periods, and moments with several events.
  const names = ['emailSent', 'emailOpen', 'emailSoftBounce'] as const
  const events = Array.from({ length: 200 }, (_, index) => {
    const at = new Date(Date.UTC(2026, 2, 1) + Math.floor(index / 3) ** 2 * 20_000)
    return eventIn(world, (index * 7) % 6, names[(index * 5) % 3]!, { at, machine: index % 11 === 0 })
  })
  await record(db, [...events, eventIn(other, 0, 'emailOpen', { at: '2026-03-01T12:00:00Z' })])

  const filters = fc.record(
    {
      eventName: fc.constantFrom(...eventNames),
      flowId: fc.constantFrom(...world.flowIds),
      contactId: fc.constantFrom(...world.messages.map(({ contactId }) => contactId)),
      machine: fc.boolean(),
    },
    { requiredKeys: [] },
  )
  await fc.assert(
    fc.asyncProperty(filters, fc.constantFrom(1, 7, 50, 100), async (filter, limit) => {
      const found: string[] = []
      let cursor: string | null = null
      do {
        const { eventName, flowId, contactId, machine } = filter
        const query = { eventName, flowId, contactId, machine, after: undefined }
        const asked = readPage({ limit, ...(cursor && { cursor }) }, activityCursor)
        const page = await listActivity(db, world.organizationId, query, asked)
        found.push(...page.items.map(({ id }) => id))
        cursor = page.nextCursor
      } while (cursor && found.length < 60)
      const all = expected(events, filter)
      expect(found).toEqual(cursor ? all.slice(0, found.length) : all)
    }),
    { numRuns: 60 },
  )
})

test('invalid parameters are rejected by name; unknown ids match nothing', async () => {
  await using app = await startTestApp()
  const world = await createWorldIn(app)
  const other = await createWorld(app.db)
  await record(app.db, [eventIn(world, 0, 'emailOpen'), eventIn(other, 0, 'emailOpen')])
  const refused = { event_name: 'opened', machine: 'yes', cursor: 'x', limit: '0', after: 'nonsense' }
  for (const [name, value] of Object.entries(refused)) {
    const answer = await list(app, { [name]: value })
    expect([answer.status, answer.body.error.fields[0].path]).toEqual([422, name])
  }
  const forged = JSON.stringify(['2026-99-99T99:99:99.999Z', newId('evt')])
  const answer = await list(app, { cursor: Buffer.from(forged).toString('base64url') })
  expect([answer.status, answer.body.error.fields[0].path]).toEqual([422, 'cursor'])
  expect((await list(app)).body.data).toHaveLength(1)
  for (const query of [
    { flow_id: toText('flw', other.flowIds[0]!) },
    { contact_id: toText('con', other.messages[0]!.contactId) },
    { flow_id: 'nonsense' },
    { contact_id: 'nonsense' },
  ])
    expect((await list(app, query)).body.data).toEqual([])
  expect((await app.call('GET', '/api/v1/organization/events')).status).toBe(401)
})
