import { expect, test } from 'vitest'
import { emails, fill } from '../../../test/support/broadcasts.ts'
import { startSharedRelay } from '../../../test/support/relay.ts'
import { startSharedApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { dayMs, hourMs, minuteMs } from '../../platform/values/durations.ts'
import { parseId } from '../../platform/values/ids.ts'
import { weekdays } from '../../platform/values/weekly-window.ts'

const midnight = () => new Date((Math.floor(Date.now() / dayMs) + 1) * dayMs).toISOString()

const sharedRelay = await startSharedRelay()
const newOrganization = await startSharedApp({ SMTP_URL: sharedRelay.url, MAIL_FROM: 'Acme <news@acme.example>' })

/** Returns a function that creates a broadcast to eleven readers and checks it. */
async function startPlanning(app: TestApp) {
  const { group, create } = await fill(app)
  const readers = await group('Readers', emails('a', 11))
  const planOf = async (content: object, check = 'check') => {
    const broadcast = await create([readers], content)
    return { ...broadcast, plan: (await broadcast.act(check)).body.data.plan }
  }
  return { planOf }
}

/** Stores the end of a broadcast that took a minute. Deferred emails followed within an hour. */
async function storePast(app: TestApp, broadcast: { id: string }): Promise<void> {
  const id = parseId('brc', broadcast.id)!
  await app.db.statement`
    update broadcasts
    set status = 'sent', recipients = 600, started_at = now() - interval '1 hour', finished_at = now()
    where id = ${id}`
  await app.db.statement`
    insert into broadcast_parts (organization_id, broadcast_id, part, after_contact, to_contact, done_at)
    select organization_id, id, part, id, id, started_at + part * interval '1 minute'
    from broadcasts, generate_series(0, 1) as part where id = ${id}`
}

test('the plan of a broadcast names its emails, and what is not known yet', async () => {
  const { planOf } = await startPlanning(await newOrganization())
  const simple = await planOf({ subject: 'News for {{ first_name | default: "you" }}' })
  expect(simple.plan).toMatchObject({
    time_zone: 'UTC',
    starts_at: null,
    emails: [
      {
        variant: null,
        from_name: 'Acme',
        from_email: 'news@acme.example',
        subject: 'News for {{ first_name | default: "you" }}',
        example_subject: 'News for you',
      },
    ],
    messages_per_hour: null,
    usual_messages_per_hour: null,
    receiving_limits: false,
    sample: null,
    waits: [],
    ends_at: null,
    other_broadcasts: 0,
  })
})

test('a broadcast is planned as fast as the last one was, and at most at its rate', async () => {
  const app = await newOrganization()
  const { planOf } = await startPlanning(app)
  const past = await planOf({})
  await storePast(app, past)
  expect((await past.get()).status).toBe('sent')
  const likeBefore = await planOf({})
  expect(likeBefore.plan).toMatchObject({ messages_per_hour: null, usual_messages_per_hour: 36_000 })
  const slow = await planOf({ messages_per_hour: 27 })
  expect(slow.plan).toMatchObject({ messages_per_hour: 27, usual_messages_per_hour: null })
  // The rate allows more than the mail server accepts.
  const fast = await planOf({ messages_per_hour: 100_000_000 })
  expect(fast.plan).toMatchObject({ messages_per_hour: 100_000_000, usual_messages_per_hour: 36_000 })
  const lastsMs = ({ plan }: typeof fast) => Date.parse(plan.ends_at) - Date.parse(plan.first_email_at)
  expect(lastsMs(fast)).toBe(lastsMs(likeBefore))
})

const comparison = {
  variants: [
    { subject: 'One', share: 50 },
    { subject: 'Two', share: 50 },
  ],
  test_percent: 50,
  decide_after_seconds: 3_600,
  messages_per_hour: 7_200_000,
}

test('the sample of a comparison is planned with the size and the wait that it gets', async () => {
  const app = await newOrganization()
  const { planOf } = await startPlanning(app)
  await storePast(app, await planOf({}))
  const tested = await planOf(comparison)
  expect(tested.plan).toMatchObject({ sample: 6, waits: [{ cause: 'winner' }] })
  const decidesAt = Date.parse(tested.plan.waits[0].until)
  expect(Math.abs(decidesAt - Date.now() - hourMs)).toBeLessThan(minuteMs)
  expect(Date.parse(tested.plan.ends_at)).toBeGreaterThan(decidesAt)
  expect(
    tested.plan.emails.map(({ variant, subject }: { variant: string; subject: string }) => [variant, subject]),
  ).toEqual([
    ['A', 'One'],
    ['B', 'Two'],
  ])
  await tested.start()
  const waiting = await until('the sample', async () => {
    const broadcast = await tested.get()
    return broadcast.decides_at !== null && broadcast
  })
  expect(waiting.counts).toMatchObject({ sent: 6, pending: 5 })
  expect(Math.abs(Date.parse(waiting.decides_at) - decidesAt)).toBeLessThan(minuteMs)
  await tested.act('cancel')
  const chosen = await planOf({ ...comparison, winner_by: 'manual' })
  expect(chosen.plan).toMatchObject({ sample: 6, waits: [{ cause: 'winner', until: null }], ends_at: null })
})

test('the plan counts the other broadcasts in progress, and those that start within a day before it or before its end', async () => {
  const { planOf } = await startPlanning(await newOrganization())
  // It waits for its winner.
  const inProgress = await planOf(comparison)
  await inProgress.start()
  await until('the sample', async () => (await inProgress.get()).decides_at !== null)
  const inHours = (hours: number) => ({ schedule: { at: new Date(Date.now() + hours * hourMs).toISOString() } })
  expect((await planOf({})).plan.other_broadcasts).toBe(1)
  for (const hours of [0.5, 2]) await (await planOf(inHours(hours))).start('schedule')
  expect((await planOf(inHours(1))).plan.other_broadcasts).toBe(2)
  expect((await planOf(inHours(48))).plan.other_broadcasts).toBe(0)
  await inProgress.act('cancel')
})

test('a scheduled broadcast that is sent now waits for its sending hours, as planned', async () => {
  const app = await newOrganization()
  const { planOf } = await startPlanning(app)
  const day = weekdays[(new Date().getUTCDay() + 8) % 7]!
  const at = new Date(Date.now() + hourMs).toISOString()
  const window = { days: [day], from: '08:00', to: '18:00' }
  const schedule = { at, time_zone: 'UTC', window }
  const closed = await planOf({ schedule }, 'check?send_now=true')
  expect(closed.plan.starts_at).toBeNull()
  await closed.start('schedule')
  await closed.act('send-now')
  const due = await until('the part to wait', async () => {
    const rows = await app.db<{ dueAt: Date }>`
      select due_at from jobs
      where organization_id = ${parseId('org', app.organizationId)!} and kind = 'broadcast.run'`
    return rows.find(({ dueAt }) => +dueAt > Date.now() + minuteMs)?.dueAt
  })
  const { first_email_at: firstAt, waits } = closed.plan
  expect(waits).toEqual([{ cause: 'sending_hours', name: null, until: firstAt }])
  expect(Math.abs(Date.parse(firstAt) - +due)).toBeLessThan(minuteMs)
  await closed.act('cancel')
})

test('the limits of mail servers and warm-up plans are part of the plan', async () => {
  const relay = sharedRelay.reset()
  const app = await newOrganization()
  const { make, group, create } = await fill(app)
  await make('/mail-servers', { name: 'SES', url: relay.url, kinds: ['marketing'], messages_per_day: 3 })
  await app.manage('PATCH', '/organization', { timezone: 'Europe/Vienna' })
  const broadcast = await create([await group('Readers', emails('a', 5))])
  const { plan } = (await broadcast.act('check')).body.data
  expect(plan).toMatchObject({
    time_zone: 'Europe/Vienna',
    waits: [{ cause: 'daily_limit', name: 'SES', until: midnight() }],
  })
  await broadcast.start()
  await until('the daily limit', async () => (await broadcast.get()).counts.sent === 3)
  await broadcast.act('cancel')
  expect(relay.mails).toHaveLength(3)
  const again = await create([await group('More', emails('b', 1))])
  const { plan: later } = (await again.act('check')).body.data
  expect(later).toMatchObject({
    first_email_at: midnight(),
    waits: [{ cause: 'daily_limit', name: 'SES', until: midnight() }],
  })
})

test('a service announcement takes the next mail server at a limit, and no warm-up delays it', async () => {
  const relay = sharedRelay.reset()
  const app = await newOrganization()
  const { make, group, create } = await fill(app)
  const kinds = ['transactional']
  await make('/mail-servers', { name: 'First', url: relay.url, kinds, priority: 1, messages_per_day: 3 })
  const second = { name: 'Second', url: relay.url, kinds, priority: 2, messages_per_second: 100, messages_per_day: 4 }
  const { id: secondId } = await make('/mail-servers', second)
  const { id: domain } = await make('/domains', { name: 'warm.example.com' })
  await app.db
    .statement`update domains set status = 'verified', verified_at = now() where id = ${parseId('dom', domain)!}`
  await app.manage('PUT', `/organization/domains/${domain}/warm-up`, { plan: [2, 50] })
  const terms = {
    name: 'Terms',
    from_email: 'terms@warm.example.com',
    kind: 'transactional',
    subject: 'Terms',
    html: '<p>Read them.</p>',
  }
  const announcement = { flow_id: (await make('/flows', terms)).id, service_announcement: true }
  const broadcast = await create([await group('Customers', emails('a', 9))], announcement)
  const { plan } = (await broadcast.act('check')).body.data
  expect(plan).toMatchObject({
    // One of them has no rate.
    messages_per_hour: null,
    waits: [{ cause: 'daily_limit', name: 'First and Second', until: midnight() }],
  })
  await broadcast.act('start', { expected_recipients: 9, expected_unsubscribed: 0 })
  await until('the daily limits', async () => (await broadcast.get()).counts.sent === 7)
  await broadcast.act('cancel')

  // A rate only: it carries what the other one does not.
  await app.manage('PATCH', `/organization/mail-servers/${secondId}`, { messages_per_day: null })
  const again = await create([await group('Others', emails('b', 9))], announcement)
  const { plan: lasting } = (await again.act('check')).body.data
  expect(lasting).toMatchObject({ messages_per_hour: 98 * 3_600, waits: [] })
  await app.manage('PATCH', `/organization/mail-servers/${secondId}`, { messages_per_second: null })
  const { plan: free } = (await again.act('check')).body.data
  expect(free).toMatchObject({ messages_per_hour: null, waits: [] })
})

test('recipients at their local time are planned by their zones', async () => {
  const app = await newOrganization()
  const { group, create } = await fill(app)
  const groups = [
    await group('Tokyo', emails('tokyo', 2), { city: 'Tokyo', time_zone: 'Asia/Tokyo' }),
    await group('Vienna', emails('vienna', 3), { city: 'Vienna', time_zone: 'Europe/Vienna' }),
    await group('Berlin', emails('berlin', 1), { city: 'Berlin', time_zone: 'Europe/Berlin' }),
    await group('Unknown', emails('unknown', 4), { city: 'Base', time_zone: 'Mars/Base' }),
  ]
  const day = new Date(Date.now() + 3 * dayMs).toISOString().slice(0, 10)
  const schedule = { at: `${day}T09:00`, time_zone: 'UTC', per_recipient: true }
  const broadcast = await create(groups, { schedule })
  const { plan } = (await broadcast.act('check')).body.data
  const local = (hours: number) => new Date(Date.parse(`${day}T00:00:00Z`) + hours * hourMs).toISOString()
  const viennaOffset =
    Number(
      new Date(`${day}T12:00:00Z`).toLocaleString('en', {
        timeZone: 'Europe/Vienna',
        hour: '2-digit',
        hourCycle: 'h23',
      }),
    ) - 12
  expect(plan).toMatchObject({
    first_email_at: local(0),
    waits: [{ cause: 'local_time', until: local(9 - viennaOffset) }],
  })
  // The last ones follow at the time of the broadcast, as those without a time zone.
  const rated = (await (await create(groups, { schedule, messages_per_hour: 100_000 })).act('check')).body.data.plan
  expect(Math.abs(Date.parse(rated.ends_at) - Date.parse(local(9)))).toBeLessThan(minuteMs)
})
