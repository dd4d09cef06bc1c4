import { expect, test } from 'vitest'
import { click, createWorld, createWorldIn, eventIn, record, type World } from '../../../test/support/event-world.ts'
import { registerOther } from '../../../test/support/people.ts'
import { startSharedApp, type TestApp } from '../../../test/support/test-app.ts'
import type { BounceDetail } from '../../platform/values/event-types.ts'
import { newId, toText } from '../../platform/values/ids.ts'

const newOrganization = await startSharedApp()

const dates = { start_date: '2026-03-02', end_date: '2026-03-03' }
const get = (app: TestApp, world: World, what: string, query: Record<string, string> = {}) =>
  app.manage(
    'GET',
    `/organization/flows/${toText('flw', world.flowIds[0]!)}/${what}?${new URLSearchParams({ ...dates, ...query })}`,
  )
const bounce = (type: 'hard' | 'soft', reason: string): { bounce: BounceDetail } => ({
  bounce: { type, status: null, reply_code: null, reason, diagnostic: null },
})

async function createVersions(app: TestApp, { organizationId, flowIds, messages }: World): Promise<void> {
  const second = newId('flw')
  await app.db.statement`
    insert into flow_versions (organization_id, id, flow_id, number, subject, source, html_format, html, variables)
    select ${organizationId}, id, ${flowIds[0]}, number, '', '', 'html', '', '[]'
    from unnest(${[flowIds[0], second]}::uuid[]) with ordinality as version (id, number)`
  await app.db.statement`
    update messages set flow_version_id = ${second}, email = 'b@other.example' where id = ${messages[2]!.id}`
}

test('the results of a flow are counted by day, link, domain, bounce reason and version', async () => {
  const app = await newOrganization()
  const world = await createWorldIn(app, { messages: 3 })
  await createVersions(app, world)
  const elsewhere = await createWorldIn(app)
  const at = '2026-03-02T10:00:00Z'
  await record(app.db, [
    ...[0, 1, 2].map((index) => eventIn(world, index, 'emailSent', { at })),
    eventIn(world, 0, 'emailOpen', { at }),
    eventIn(world, 1, 'emailOpen', { at, machine: true }),
    click(world, 0, 'sale', { at }),
    click(world, 0, 'sale', { at: '2026-03-03T10:00:00Z' }),
    click(world, 0, 'terms', { at: '2026-03-03T11:00:00Z', machine: true }),
    eventIn(world, 2, 'emailHardBounce', { at, data: bounce('hard', 'user_unknown') }),
    eventIn(world, 1, 'emailSoftBounce', { at, data: bounce('soft', 'mailbox_full') }),
    eventIn(world, 0, 'contactUnsubscribe', { at, data: { method: 'page' } }),
    eventIn(elsewhere, 0, 'emailSent', { at }),
    click(elsewhere, 0, 'sale', { at }),
  ])
  // Before the period, and in the previous one.
  await record(app.db, [click(world, 1, 'sale', { at: '2026-03-01T10:00:00Z' })])

  const { status, body } = await get(app, world, 'results')
  expect(status).toBe(200)
  const { data } = body
  expect(data.totals).toMatchObject({
    emailSent: { total: 3, unique: 3, machine: 0 },
    emailOpen: { total: 2, unique: 1, machine: 1 },
    emailClick: { total: 3, unique: 1, machine: 1 },
  })
  expect(data.previous.emailClick.unique).toBe(1)
  expect(data.days.map((day: { date: string }) => day.date)).toEqual(['2026-03-02', '2026-03-03'])
  expect(data.links).toEqual([
    { link: 'https://shop.example/sale', clicks: 2, clicks_unique: 1, clicks_machine: 0 },
    { link: 'https://shop.example/terms', clicks: 0, clicks_unique: 0, clicks_machine: 1 },
  ])
  const none = { hard_bounces: 0, soft_bounces: 0, complaints: 0, opens_unique: 0, clicks_unique: 0 }
  const first = { ...none, sent: 2, bounced: 1, opens_unique: 1, clicks_unique: 1, soft_bounces: 1 }
  const second = { ...none, sent: 1, bounced: 1, hard_bounces: 1 }
  expect(data.domains).toEqual([
    { domain: 'example.com', ...first },
    { domain: 'other.example', ...second },
  ])
  expect(data.bounces).toEqual(
    expect.arrayContaining([
      { reason: 'user_unknown', hard_bounces: 1, soft_bounces: 0 },
      { reason: 'mailbox_full', hard_bounces: 0, soft_bounces: 1 },
    ]),
  )
  expect(data.versions).toEqual([
    { version: 2, ...second, unsubscribes: 0 },
    { version: 1, ...first, unsubscribes: 1 },
  ])
})

test('results follow the days of the time zone', async () => {
  const app = await newOrganization()
  const world = await createWorldIn(app, { messages: 3 })
  await record(app.db, [
    click(world, 0, 'a', { at: '2026-03-01T18:29:00Z' }),
    click(world, 1, 'a', { at: '2026-03-01T18:31:00Z' }),
    click(world, 2, 'a', { at: '2026-03-03T23:00:00Z' }),
  ])
  const clicks = async (timezone: string) => {
    const { data } = (await get(app, world, 'results', { timezone })).body
    expect(data.links[0].clicks).toBe(data.totals.emailClick.total)
    return data.links[0].clicks
  }
  expect(await clicks('UTC')).toBe(1)
  // Midnight is at 18:30 UTC.
  expect(await clicks('Asia/Kolkata')).toBe(1)
  expect(await clicks('Asia/Tokyo')).toBe(2)
})

test('the clicks on a link are listed by page, newest first', async () => {
  const app = await newOrganization()
  const world = await createWorldIn(app, { messages: 9 })
  const at = (minute: number) => new Date(Date.UTC(2026, 2, 2, 10) + minute * 60_000)
  await record(
    app.db,
    world.messages.flatMap((_, index) => [
      click(world, index, 'a', { at: at(index * 7) }),
      click(world, index, 'b', { at: at(index * 7 + 1), machine: true }),
    ]),
  )
  const link = 'https://shop.example/a'
  const emails: string[] = []
  for (let cursor = ''; ; ) {
    const { body } = await get(app, world, 'link-clicks', { link, limit: '2', ...(cursor && { cursor }) })
    emails.push(...body.data.map((each: { contact: { email: string } }) => each.contact.email))
    if (body.next_cursor === null) break
    cursor = body.next_cursor
  }
  expect(emails).toEqual(world.messages.map(({ email }) => email).toReversed())

  const machines = { link: 'https://shop.example/b', machine: 'true' }
  expect((await get(app, world, 'link-clicks', machines)).body.data).toHaveLength(9)
  expect((await get(app, world, 'link-clicks', { ...machines, machine: 'false' })).body.data).toEqual([])
  expect((await get(app, world, 'link-clicks', { link, start_date: '2026-03-03' })).body.data).toEqual([])
  expect((await get(app, world, 'link-clicks')).status).toBe(422)
})

test('a link is counted once per message, in any period, and with the others beyond those that are counted individually', async () => {
  const app = await newOrganization()
  const world = await createWorldIn(app, { messages: 60 })
  const on = (day: number, hour = 12) => `2026-03-0${day}T${String(hour).padStart(2, '0')}:00:00Z`
  await record(app.db, [
    click(world, 0, 'a', { at: on(2) }),
    click(world, 0, 'a', { at: on(2, 15) }),
    click(world, 0, 'a', { at: on(3) }),
    click(world, 1, 'a', { at: on(3) }),
    click(world, 1, 'a', { at: on(4) }),
    click(world, 2, 'a', { at: on(3), machine: true }),
  ])
  const linksOf = async (query: Record<string, string> = {}) =>
    (await get(app, world, 'results', query)).body.data.links
  const [both] = await linksOf()
  expect(both).toMatchObject({ clicks: 4, clicks_unique: 2, clicks_machine: 1 })
  expect((await linksOf({ end_date: '2026-03-02' }))[0]).toMatchObject({ clicks: 2, clicks_unique: 1 })
  // Midnight is at 15:00 UTC.
  const inTokyo = { timezone: 'Asia/Tokyo', start_date: '2026-03-03', end_date: '2026-03-03' }
  expect((await linksOf(inTokyo))[0]).toMatchObject({ clicks: 3, clicks_unique: 2 })

  const many = { start_date: '2026-03-05', end_date: '2026-03-05' }
  await record(
    app.db,
    world.messages.flatMap((_, index) => [0, 1].map(() => click(world, index, `order-${index}`, { at: on(5) }))),
  )
  const rows: { link: string | null; clicks: number; clicks_unique: number }[] = await linksOf(many)
  expect(rows).toHaveLength(51)
  expect(rows.slice(0, -1).every((row) => row.clicks === 2 && row.clicks_unique === 1)).toBe(true)
  expect(rows.at(-1)).toMatchObject({ link: null, clicks: 20, clicks_unique: 10 })

  // More than can be counted while somebody waits.
  await app.db.statement`
    update flow_counters set total = 600000
    where organization_id = ${world.organizationId} and kind = 'link' and starts_at = ${on(5, 0)}`
  expect((await linksOf(many))[0]).toMatchObject({ clicks: 600_000, clicks_unique: null })
})

test('results of an unknown flow or an invalid period are rejected', async () => {
  const app = await newOrganization()
  const world = await createWorldIn(app)
  const stranger = await createWorld(app.db)
  expect((await get(app, stranger, 'results')).status).toBe(404)
  expect((await get(app, world, 'results', { start_date: 'yesterday' })).status).toBe(422)
})

/** Eight messages of a flow, with events in the period, before it and after it. */
async function recordEngagement(app: TestApp): Promise<World> {
  const world = await createWorldIn(app, { messages: 8 })
  const elsewhere = await createWorldIn(app, { messages: 1 })
  const at = '2026-03-02T10:00:00Z'
  const later = '2026-03-03T11:00:00Z'
  await record(app.db, [
    ...[0, 1, 2, 3, 4].map((index) => eventIn(world, index, 'emailSent', { at })),
    // Opened twice, by a person after a scanner, only by a scanner, and before the period.
    eventIn(world, 0, 'emailOpen', { at }),
    eventIn(world, 0, 'emailOpen', { at: later }),
    eventIn(world, 1, 'emailOpen', { at, machine: true }),
    eventIn(world, 1, 'emailOpen', { at: later }),
    eventIn(world, 2, 'emailOpen', { at, machine: true }),
    eventIn(world, 3, 'emailOpen', { at: '2026-03-01T10:00:00Z' }),
    eventIn(world, 3, 'emailOpen', { at }),
    click(world, 0, 'sale', { at }),
    click(world, 0, 'terms', { at }),
    // Twice, the second time after the period; rejected at once, and again later; and sent before the period.
    eventIn(world, 4, 'emailSoftBounce', { at: later, data: bounce('soft', 'mailbox_full') }),
    eventIn(world, 4, 'emailHardBounce', { at: '2026-03-09T10:00:00Z', data: bounce('hard', 'user_unknown') }),
    eventIn(world, 5, 'emailSoftBounce', { at, data: bounce('soft', 'mailbox_full') }),
    eventIn(world, 5, 'emailHardBounce', { at: later, data: bounce('hard', 'user_unknown') }),
    eventIn(world, 6, 'emailSoftBounce', { at, data: bounce('soft', 'mailbox_full') }),
    eventIn(world, 7, 'emailSent', { at: '2026-03-01T10:00:00Z' }),
    eventIn(world, 7, 'emailSoftBounce', { at, data: bounce('soft', 'mailbox_full') }),
    eventIn(world, 1, 'emailComplaint', { at: later }),
    eventIn(world, 0, 'contactUnsubscribe', { at, data: { method: 'page' } }),
    eventIn(elsewhere, 0, 'emailSent', { at }),
    eventIn(elsewhere, 0, 'emailOpen', { at }),
  ])
  return world
}

/** Returns the positions of the messages that a figure leads to, read one by one. */
async function messagesOf(app: TestApp, world: World, figure: string): Promise<number[]> {
  const found: { message_id: string }[] = []
  for (let cursor: string | undefined; ; ) {
    const { body } = await get(app, world, 'results/messages', { figure, limit: '1', ...(cursor && { cursor }) })
    found.push(...body.data)
    cursor = body.next_cursor ?? undefined
    if (!cursor) break
  }
  return found.map(({ message_id: id }) => world.messages.findIndex((each) => toText('msg', each.id) === id))
}

test('each figure of a flow leads to its messages, as many as it counts', async () => {
  const app = await newOrganization()
  const world = await recordEngagement(app)
  const { totals } = (await get(app, world, 'results')).body.data
  const uniques = {
    sent: totals.sent,
    delivered: totals.delivered,
    opened: totals.emailOpen.unique,
    clicked: totals.emailClick.unique,
    bounced: totals.bounced,
    complaints: totals.emailComplaint.unique,
    unsubscribed: totals.contactUnsubscribe.unique,
  }
  for (const [figure, unique] of Object.entries(uniques))
    expect([figure, (await messagesOf(app, world, figure)).length]).toEqual([figure, unique])
  expect((await messagesOf(app, world, 'sent')).sort()).toEqual([0, 1, 2, 3, 4, 5, 6])
  expect((await messagesOf(app, world, 'delivered')).sort()).toEqual([0, 1, 2, 3])
  expect(await messagesOf(app, world, 'opened')).toEqual([1, 0])
  expect(await messagesOf(app, world, 'clicked')).toEqual([0])
  expect((await messagesOf(app, world, 'bounced')).sort()).toEqual([4, 5, 6])
})

test('a bounce is listed with its reason and its time, also after the period of its message', async () => {
  const app = await newOrganization()
  const world = await recordEngagement(app)
  const bounced: { event_name: string; reason: string; occurred_at: string }[] = (
    await get(app, world, 'results/messages', { figure: 'bounced' })
  ).body.data
  expect(bounced.map((each) => [each.event_name, each.reason, each.occurred_at]).sort()).toEqual([
    ['emailHardBounce', 'user_unknown', '2026-03-03T11:00:00.000Z'],
    ['emailHardBounce', 'user_unknown', '2026-03-09T10:00:00.000Z'],
    ['emailSoftBounce', 'mailbox_full', '2026-03-02T10:00:00.000Z'],
  ])
})

test('the totals, days, domains and versions of a flow count each message once', async () => {
  const app = await newOrganization()
  const world = await recordEngagement(app)
  const { totals, days, domains, versions } = (await get(app, world, 'results')).body.data
  expect(totals).toMatchObject({
    emailSent: { unique: 5 },
    emailSoftBounce: { unique: 4 },
    emailHardBounce: { unique: 1 },
  })
  const day = { sent: 7, delivered: 4, bounced: 3 }
  expect(days).toMatchObject([day, { sent: 0, delivered: 0, bounced: 0 }])
  expect(domains).toMatchObject([{ sent: 7, bounced: 3, soft_bounces: 4, hard_bounces: 1 }])
  expect(versions).toMatchObject([{ sent: 7, bounced: 3 }])
})

test('the messages of an unknown figure, or of a flow of others, are not listed', async () => {
  const app = await newOrganization()
  const world = await createWorldIn(app)
  expect((await get(app, world, 'results/messages', { figure: 'read' })).status).toBe(422)
  const other = await registerOther(app)
  const path = `/organization/flows/${toText('flw', world.flowIds[0]!)}/results/messages`
  const stranger = await other.manage('GET', `${path}?${new URLSearchParams({ ...dates, figure: 'sent' })}`)
  expect(stranger.status).toBe(404)
})
