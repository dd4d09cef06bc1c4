import { expect, test } from 'vitest'
import { emails, fill } from '../../test/support/broadcasts.ts'
import { startRelay } from '../../test/support/relay.ts'
import { startTestApp } from '../../test/support/test-app.ts'
import { until } from '../../test/support/until.ts'
import { dayMs, hourMs, minuteMs } from '../values/durations.ts'
import { weekdays } from './weekly-window.ts'

const midnight = () => new Date((Math.floor(Date.now() / dayMs) + 1) * dayMs).toISOString()

test('the check plans a broadcast, and it is sent as planned', async () => {
  await using relay = await startRelay()
  await using app = await startTestApp({ SMTP_URL: relay.url, MAIL_FROM: 'Acme <news@acme.example>' })
  const { group, create } = await fill(app)
  const readers = await group('Readers', emails('a', 11))
  const planOf = async (content: object, check = 'check') => {
    const broadcast = await create([readers], content)
    return { ...broadcast, plan: (await broadcast.act(check)).body.data.plan }
  }

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
    limits: [],
    batches: [{ part: 'all', recipients: 11, estimated: false, ends_at: null, waits_for: 'start' }],
    ends_at: null,
    other_broadcasts: 0,
  })

  // As fast as the last one, which took a minute.
  const past = await create([readers])
  await app.db.statement`
    update broadcasts
    set status = 'sent', recipients = 600, started_at = now() - interval '1 minute', finished_at = now()
    where id = (select id from broadcasts order by id desc limit 1)`
  expect((await past.get()).status).toBe('sent')
  const likeBefore = await planOf({})
  expect(likeBefore.plan).toMatchObject({ messages_per_hour: null, usual_messages_per_hour: 36_000 })
  expect(likeBefore.plan.ends_at).toBe(likeBefore.plan.batches[0].ends_at)

  // The sample has the size that the freeze gives it, and the rest follows.
  const test = {
    variants: [
      { subject: 'One', share: 50 },
      { subject: 'Two', share: 50 },
    ],
    test_percent: 50,
    decide_after_seconds: 3_600,
    messages_per_hour: 7_200_000,
  }
  const tested = await planOf(test)
  const [sample, rest] = tested.plan.batches
  expect([sample, rest]).toMatchObject([
    { part: 'sample', recipients: 6, estimated: false, waits_for: 'start' },
    { part: 'rest', recipients: 5, estimated: false, waits_for: 'winner' },
  ])
  expect(Date.parse(rest.starts_at) - Date.parse(sample.ends_at)).toBe(hourMs)
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
  expect(Math.abs(Date.parse(waiting.decides_at) - Date.parse(rest.starts_at))).toBeLessThan(minuteMs)
  // Others share the mail server: those in progress, and those that start within a day before it or before its end.
  const inHours = (hours: number) => ({ schedule: { at: new Date(Date.now() + hours * hourMs).toISOString() } })
  expect((await planOf({})).plan.other_broadcasts).toBe(1)
  for (const hours of [0.5, 2]) await (await planOf(inHours(hours))).start('schedule')
  expect((await planOf(inHours(1))).plan.other_broadcasts).toBe(2)
  expect((await planOf(inHours(48))).plan.other_broadcasts).toBe(0)
  await tested.act('cancel')
  const chosen = await planOf({ ...test, winner_by: 'manual' })
  expect(chosen.plan.batches[1]).toMatchObject({ recipients: 5, starts_at: null, waits_for: 'winner' })

  // A window that is closed now, on a scheduled broadcast that is sent now instead.
  const day = weekdays[(new Date().getUTCDay() + 8) % 7]!
  const at = new Date(Date.now() + hourMs).toISOString()
  const window = { days: [day], from: '08:00', to: '18:00' }
  const schedule = { at, time_zone: 'UTC', window }
  const closed = await planOf({ schedule }, 'check?send_now=true')
  expect(closed.plan.starts_at).toBeNull()
  await closed.start('schedule')
  await closed.act('send-now')
  const due = await until('the part to wait', async () => {
    const rows = await app.db<{ dueAt: Date }>`select due_at from jobs where kind = 'broadcast.run'`
    return rows.find(({ dueAt }) => +dueAt > Date.now() + minuteMs)?.dueAt
  })
  expect(closed.plan.batches).toMatchObject([{ recipients: 11, waits_for: 'sending_hours' }])
  expect(Math.abs(Date.parse(closed.plan.batches[0].starts_at) - +due)).toBeLessThan(minuteMs)
  await closed.act('cancel')
})

test('the limits of mail servers and warm-up plans are part of the plan', async () => {
  await using relay = await startRelay()
  await using app = await startTestApp({ SMTP_URL: relay.url })
  const { make, group, create } = await fill(app)
  await make('/mail-servers', { name: 'SES', url: relay.url, kinds: ['marketing'], messages_per_day: 3 })
  await app.manage('PATCH', '/organization', { timezone: 'Europe/Vienna' })
  const broadcast = await create([await group('Readers', emails('a', 5))])
  const { plan } = (await broadcast.act('check')).body.data
  expect(plan).toMatchObject({
    time_zone: 'Europe/Vienna',
    limits: [{ kind: 'mail_server', name: 'SES', messages_per_day: 3, left_today: 3 }],
    batches: [
      { recipients: 3, estimated: true, waits_for: 'start' },
      { recipients: 2, estimated: true, starts_at: midnight(), waits_for: 'daily_limit' },
    ],
  })
  await broadcast.start()
  await until('the daily limit', async () => (await broadcast.get()).counts.sent === 3)
  await broadcast.act('cancel')
  expect(relay.mails).toHaveLength(3)
  const again = await create([await group('More', emails('b', 1))])
  const { plan: later } = (await again.act('check')).body.data
  expect(later).toMatchObject({
    limits: [{ left_today: 0 }],
    batches: [{ recipients: 1, starts_at: midnight(), waits_for: 'daily_limit' }],
  })
})

test('recipients at their local time are planned by their zones', async () => {
  await using app = await startTestApp({}, ['serve'])
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
  expect(plan.batches).toMatchObject([
    { recipients: 2, estimated: false, starts_at: local(0), waits_for: 'start' },
    { recipients: 4, estimated: false, starts_at: local(9 - viennaOffset), waits_for: 'local_time' },
    { recipients: 4, estimated: false, starts_at: local(9), waits_for: 'local_time' },
  ])
})
