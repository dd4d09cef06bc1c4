import { expect, test } from 'vitest'
import { click, createWebhook, createWorld, createWorldIn, eventIn, record } from '../../../test/support/event-world.ts'
import { startSharedApp, type TestApp } from '../../../test/support/test-app.ts'
import { eventNames, webhookEventNames } from '../../platform/values/event-types.ts'
import { toText } from '../../platform/values/ids.ts'

const newOrganization = await startSharedApp()

const overview = (app: TestApp, query: Record<string, string> = {}) =>
  app.manage(
    'GET',
    `/organization/overview?${new URLSearchParams({ start_date: '2026-03-02', end_date: '2026-03-03', ...query })}`,
  )
const none = { total: 0, unique: 0, machine: 0 }
const nothing = { ...Object.fromEntries(eventNames.map((name) => [name, none])), sent: 0, delivered: 0, bounced: 0 }

test('the overview returns days, totals, previous totals and top flows', async () => {
  const app = await newOrganization()
  const world = await createWorldIn(app, { messages: 4, flows: 3 })
  const other = await createWorld(app.db)
  await record(app.db, [
    ...[0, 1, 3].map((index) => eventIn(world, index, 'emailSent', { at: '2026-03-02T10:00:00Z' })),
    eventIn(world, 0, 'emailOpen', { at: '2026-03-02T11:00:00Z' }),
    eventIn(world, 0, 'emailOpen', { at: '2026-03-03T11:00:00Z', machine: true }),
    click(world, 0, 'a', { at: '2026-03-03T11:00:00Z' }),
    eventIn(world, 1, 'emailSoftBounce', { at: '2026-03-03T12:00:00Z' }),
    eventIn(world, 0, 'contactUnsubscribe', { at: '2026-03-03T13:00:00Z' }),
    eventIn(world, 2, 'emailSent', { at: '2026-03-01T10:00:00Z' }),
    eventIn(world, 2, 'emailOpen', { at: '2026-02-27T23:59:59Z' }),
    eventIn(other, 0, 'emailSent', { at: '2026-03-02T10:00:00Z' }),
  ])
  const answer = await overview(app)
  expect(answer.status).toBe(200)
  const one = { total: 1, unique: 1, machine: 0 }
  const [first, second] = world.flowIds.map((id) => toText('flw', id))
  expect(answer.body.data).toEqual({
    start_date: '2026-03-02',
    end_date: '2026-03-03',
    timezone: 'UTC',
    totals: {
      ...nothing,
      emailSent: { total: 3, unique: 3, machine: 0 },
      emailOpen: { total: 2, unique: 1, machine: 1 },
      emailClick: one,
      emailSoftBounce: one,
      contactUnsubscribe: one,
      // The email that bounced a day later counts on the day on which it was sent.
      ...{ sent: 3, delivered: 2, bounced: 1 },
    },
    previous: { ...nothing, emailSent: one, sent: 1, delivered: 1 },
    series: [
      {
        ...{ ...nothing, date: '2026-03-02', emailSent: { total: 3, unique: 3, machine: 0 }, emailOpen: one },
        ...{ sent: 3, delivered: 2, bounced: 1 },
      },
      {
        ...{ ...nothing, date: '2026-03-03', emailOpen: { total: 1, unique: 0, machine: 1 } },
        ...{ emailClick: one, emailSoftBounce: one, contactUnsubscribe: one },
      },
    ],
    top_flows: [
      {
        flow_id: first,
        name: 'Flow 1',
        is_built_in: false,
        sent: 2,
        opens_unique: 1,
        clicks_unique: 1,
        bounced: 0,
        unsubscribes: 1,
      },
      {
        flow_id: second,
        name: 'Flow 2',
        is_built_in: false,
        sent: 1,
        opens_unique: 0,
        clicks_unique: 0,
        bounced: 1,
        unsubscribes: 0,
      },
    ],
  })

  const ofSecond = (await overview(app, { flow_id: second! })).body.data
  expect(ofSecond.totals.emailSent).toEqual(one)
  expect(ofSecond.top_flows).toHaveLength(1)
  expect((await overview(app, { flow_id: toText('flw', other.flowIds[0]!) })).status).toBe(404)
})

test('top flows include old flows, with counts by days of any zone', async () => {
  const app = await newOrganization()
  const quarters = Array.from({ length: 2 * 24 * 4 }, (_, index) => Date.UTC(2026, 2, 1) + index * 15 * 60_000)
  const world = await createWorldIn(app, { messages: quarters.length, flows: 1 })
  await record(
    app.db,
    quarters.map((at, index) => eventIn(world, index, 'emailSent', { at: new Date(at) })),
  )
  await createWorldIn(app, { messages: 0, flows: 1_001 })
  for (const [timezone, sent] of [
    ['UTC', 96],
    ['Asia/Kathmandu', 119],
    ['America/St_Johns', 82],
    ['Pacific/Kiritimati', 152],
  ] as const) {
    const { data } = (await overview(app, { timezone })).body
    expect(data.totals.emailSent.total).toBe(sent)
    expect(data.top_flows).toMatchObject([{ flow_id: toText('flw', world.flowIds[0]!), sent }])
  }
})

test('days are those of the organization’s zone by default', async () => {
  const app = await newOrganization()
  const world = await createWorldIn(app)
  await record(app.db, [eventIn(world, 0, 'emailSent', { at: '2026-03-02T20:00:00Z' })])
  const days = async (query: Record<string, string>) => {
    const { data } = (await overview(app, query)).body
    return [data.timezone, ...data.series.map((day: { emailSent: { total: number } }) => day.emailSent.total)]
  }
  expect(await days({})).toEqual(['UTC', 1, 0])
  expect(await days({ timezone: 'Asia/Tokyo' })).toEqual(['Asia/Tokyo', 0, 1])
  await app.db.statement`update organizations set timezone = 'Asia/Tokyo' where id = ${world.organizationId}`
  expect(await days({})).toEqual(['Asia/Tokyo', 0, 1])
})

test('an overview with invalid days is rejected with the problems', async () => {
  const app = await newOrganization()
  const answer = await overview(app, { start_date: '2026-02-30', timezone: 'nowhere' })
  expect(answer.status).toBe(422)
  expect(answer.body.error.fields.map((field: { path: string }) => field.path)).toEqual(['start_date', 'timezone'])
  expect((await app.manage('GET', '/organization/overview')).body.error.fields).toHaveLength(2)
})

test('the checklist shows which steps are completed', async () => {
  const app = await newOrganization()
  const checklist = async () => (await app.manage('GET', '/organization/checklist')).body.data
  const nothing = {
    sent: false,
    opened: false,
    clicked: false,
    flow: false,
    contacts: false,
    api_key: false,
    webhook: false,
  }
  const other = await createWorld(app.db)
  await createWebhook(app.db, other.organizationId)
  await record(app.db, [eventIn(other, 0, 'emailSent'), eventIn(other, 0, 'emailOpen')])
  expect(await checklist()).toEqual({ ...nothing, api_key: true })

  const world = await createWorldIn(app)
  await record(app.db, [eventIn(world, 0, 'emailSent'), eventIn(world, 0, 'emailOpen'), click(world, 0, 'a')])
  await createWebhook(app.db, world.organizationId)
  await app.db.statement`update api_keys set revoked_at = now() where organization_id = ${world.organizationId}`
  expect(await checklist()).toEqual({
    sent: true,
    opened: true,
    clicked: true,
    flow: true,
    contacts: true,
    api_key: false,
    webhook: true,
  })
})

test('event types are listed, each with an example payload', async () => {
  const app = await newOrganization()
  const { body } = await app.manage('GET', '/event-types')
  expect(body.data.map((type: { event_name: string }) => type.event_name)).toEqual([...webhookEventNames])
  const clicked = body.data.find((type: { event_name: string }) => type.event_name === 'emailClick')
  expect(clicked.description).toBe('A link in an email was clicked.')
  expect(clicked.example).toEqual({
    event_name: 'emailClick',
    organization_id: expect.stringMatching(/^org_/),
    timestamp: 1_780_056_000,
    data: {
      event_id: expect.stringMatching(/^evt_/),
      message_id: expect.stringMatching(/^msg_/),
      flow_id: expect.stringMatching(/^flw_/),
      contact: { id: expect.stringMatching(/^con_/), email: 'ada@example.com', first_name: 'Ada' },
      machine: false,
      user_agent: expect.stringContaining('Mozilla'),
      url: 'https://example.com/orders/1042',
    },
  })
})

test('unsubscribing through the API records an event and triggers webhooks', async () => {
  const app = await newOrganization()
  const world = await createWorldIn(app)
  await createWebhook(app.db, world.organizationId, { eventTypes: ['contactUnsubscribe'] })
  const contact = `/organization/contacts/${toText('con', world.messages[0]!.contactId)}`
  expect((await app.manage('PATCH', contact, { status: 'unsubscribed' })).status).toBe(200)
  const { body } = await app.manage('GET', '/organization/events')
  expect(body.data).toMatchObject([{ event_name: 'contactUnsubscribe', message_id: null, data: { method: 'api' } }])
  expect(
    await app.db`
    select from deliveries
    where organization_id = ${world.organizationId} and event_name = 'contactUnsubscribe'`,
  ).toHaveLength(1)
})
