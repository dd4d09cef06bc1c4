import { expect, test } from 'vitest'
import { emails, fill } from '../../test/support/broadcasts.ts'
import { startRelay, startSharedRelay } from '../../test/support/relay.ts'
import { startSharedApp, startTestApp } from '../../test/support/test-app.ts'
import { until } from '../../test/support/until.ts'
import { withResolvers } from '../../test/support/with-resolvers.ts'
import { parseId } from '../platform/values/ids.ts'
import { weekdays } from '../platform/values/weekly-window.ts'

const sharedRelay = await startSharedRelay()
const newOrganization = await startSharedApp({ SMTP_URL: sharedRelay.url })

const minuteMs = 60_000
/** The local time of a zone with whole hours of offset, as the API expects it. */
const wall = (at: number, offsetHours: number) => new Date(at + offsetHours * 60 * minuteMs).toISOString().slice(0, 16)

test('a scheduled broadcast starts at its time with the recipients of that time, and expires if it is missed', async () => {
  const relay = sharedRelay.reset()
  const app = await newOrganization()
  const { group, create } = await fill(app)
  const groupId = await group('First', emails('a', 3))
  const at = wall(Date.now() + 60 * minuteMs, 9)
  const schedule = { at, time_zone: 'Asia/Tokyo' }
  const [onTime, late] = [await create([groupId], { schedule }), await create([groupId], { schedule })]
  for (const broadcast of [onTime, late]) {
    const scheduled = (await broadcast.start('schedule')).body.data
    expect(scheduled).toMatchObject({ status: 'scheduled', starts_at: new Date(`${at}:00+09:00`).toISOString() })
  }
  await group('First again', emails('b', 1))
  await app.publicApi('POST', '/contacts/add-group-members', {
    group_id: groupId,
    members: [{ email: 'new@example.com', attributes: { city: 'Graz' } }],
  })
  expect(relay.mails).toHaveLength(0)

  const arrive = async (id: string, minutesLate: number) => {
    const uuid = parseId('brc', id)!
    await app.db.statement`
      update broadcasts set starts_at = now() - ${minutesLate} * interval '1 minute' where id = ${uuid}`
    await app.db.statement`update jobs set due_at = now() where lane = ${uuid}`
    await app.db.statement`update lanes set next_due_at = now() where lane = ${uuid}`
  }
  await arrive(onTime.id, 59)
  expect((await onTime.ended()).recipients).toBe(4)
  expect(relay.mails).toHaveLength(4)

  await arrive(late.id, 61)
  expect(await late.ended('expired')).toMatchObject({ reason: 'missed', recipients: null })
  expect(relay.mails).toHaveLength(4)
  const notices = (await app.manage('GET', '/organization/notices')).body.data
  expect(notices[0]).toMatchObject({ kind: 'broadcast_expired', path: `/broadcasts/${late.id}` })
})

test('recipients get a broadcast at their local time, or at that of the broadcast', async () => {
  const relay = sharedRelay.reset()
  const app = await newOrganization()
  const { group, create } = await fill(app)
  const groups = [
    await group('Kiritimati', ['first@example.com'], { city: 'London', time_zone: 'Pacific/Kiritimati' }),
    await group('Tokyo', ['tokyo@example.com'], { city: 'Tokyo', time_zone: 'Asia/Tokyo' }),
    await group('Unknown', ['unknown@example.com'], { city: 'Base', time_zone: 'Mars/Base' }),
    await group('None', ['none@example.com']),
  ]
  const at = wall(Date.now() + 30 * minuteMs, 9)
  const schedule = { at, time_zone: 'Etc/GMT+8', per_recipient: true }
  const broadcast = await create(groups, { schedule })
  await broadcast.start('schedule')
  // Its local time has passed when the broadcast is scheduled.
  await until('the first recipient', () => relay.mails.length === 1)
  expect(relay.mails[0]!.recipient).toBe('first@example.com')
  const due = await app.db<{ zone: string; dueAt: Date }>`
    select zone, due_at from broadcast_parts
    join jobs on jobs.organization_id = broadcast_parts.organization_id and lane = broadcast_id || '/' || part
    where jobs.organization_id = ${parseId('org', app.organizationId)!} and due_at > now()
    order by due_at`
  expect(due.map(({ zone, dueAt }) => [zone, wall(+dueAt, zone === 'Asia/Tokyo' ? 9 : -8)])).toEqual([
    ['Asia/Tokyo', at],
    ['Etc/GMT+8', at],
  ])
  expect((await broadcast.act('cancel')).status).toBe(200)
  const cancelled = await until('the end', async () => {
    const now = await broadcast.get()
    return now.counts.cancelled === 3 && now
  })
  expect(cancelled.counts).toMatchObject({ sent: 1, cancelled: 3 })
})

test('nothing is sent outside the window, and the rest waits for its next opening', async () => {
  const relay = sharedRelay.reset()
  const app = await newOrganization()
  const { group, create } = await fill(app)
  const today = (new Date().getUTCDay() + 6) % 7
  const closed = { days: [weekdays[(today + 2) % 7]], from: '08:00', to: '18:00' }
  const broadcast = await create([await group('First', emails('a', 3))], {
    schedule: { time_zone: 'UTC', window: closed },
  })
  await broadcast.start()
  const due = await until('the part to wait', async () => {
    const rows = await app.db<{ dueAt: Date }>`
      select due_at from jobs where organization_id = ${parseId('org', app.organizationId)!} and kind = 'broadcast.run'`
    const dueAt = rows[0]?.dueAt
    return dueAt && +dueAt > Date.now() + minuteMs ? dueAt : undefined
  })
  expect([due.getUTCHours(), due.getUTCMinutes(), (due.getUTCDay() + 6) % 7]).toEqual([8, 0, (today + 2) % 7])
  expect(relay.mails).toHaveLength(0)
  expect((await broadcast.get()).counts.pending).toBe(3)
  await broadcast.act('cancel')
  await until('the end', async () => (await broadcast.get()).counts.cancelled === 3)
})

test('the rate limits how many emails are sent', async () => {
  const relay = sharedRelay.reset()
  const app = await newOrganization()
  const { group, create } = await fill(app)
  const broadcast = await create([await group('First', emails('a', 20))], { messages_per_hour: 7_200 })
  const startedAt = Date.now()
  await broadcast.start()
  await broadcast.ended()
  // Two a second, in chunks of five seconds: ten at once, ten after five seconds.
  expect(relay.mails).toHaveLength(20)
  expect(Date.now() - startedAt).toBeGreaterThan(5_000)
})

test('a broadcast that was interrupted for too long is paused instead of continuing', async () => {
  const relay = sharedRelay.reset()
  const app = await newOrganization()
  const { group, create } = await fill(app)
  const broadcast = await create([await group('First', emails('a', 20))], { messages_per_hour: 1 })
  await broadcast.start()
  await until('the first email', async () => (await broadcast.get()).counts.sent === 1)
  // As if the service had been restored from a backup, two hours later.
  const organizationId = parseId('org', app.organizationId)!
  await until('the part to wait', async () => {
    const rows = await app.db.statement`
      update jobs set due_at = now() - interval '2 hours'
      where organization_id = ${organizationId} and kind = 'broadcast.run' and due_at > now() returning 1`
    return rows.length > 0
  })
  await app.db.statement`
    update lanes set next_due_at = now() where organization_id = ${organizationId} and kind = 'broadcast.run'`
  expect(await broadcast.ended('paused')).toMatchObject({ reason: 'interrupted' })
  expect(relay.mails).toHaveLength(1)
})

test('too many hard bounces pause a broadcast, inform the owner, and resuming starts counting again', async () => {
  await using relay = await startRelay({ parse: false })
  // Most of them get their reply after the broadcast was paused, however long that takes.
  const { promise: held, resolve: release } = withResolvers()
  let bad = 0
  relay.onRecipient = async (address) => {
    if (!address.startsWith('bad')) return undefined
    if (++bad > 200) await held
    return { code: 550, text: '5.1.1 No such user' }
  }
  await using app = await startTestApp({ SMTP_URL: relay.url, SMTP_CONNECTIONS: '1' })
  const { group, create } = await fill(app)
  const broadcast = await create([await group('Bad', emails('bad', 400)), await group('Good', emails('good', 200))])
  await broadcast.start()
  const paused = await broadcast.ended('paused')
  release()
  expect(paused).toMatchObject({ reason: 'bounces', detail: expect.stringContaining('addresses that do not exist') })
  expect(paused.counts.bounced).toBeGreaterThan(50)
  expect(paused.counts.bounced).toBeLessThan(400)
  const notices = (await app.manage('GET', '/organization/notices')).body.data
  expect(notices[0]).toMatchObject({ kind: 'broadcast_paused', path: `/broadcasts/${broadcast.id}` })

  await broadcast.act('resume')
  const again = await broadcast.ended('paused', 'sent')
  expect(again.counts.bounced).toBeGreaterThan(paused.counts.bounced + 50)
  // Each reply of the mail server was taken for its own email, also while further connections were opened and closed.
  expect(again.counts.queued).toBe(0)
})

test('complaints pause a broadcast', async () => {
  sharedRelay.reset()
  const app = await newOrganization()
  const { group, create } = await fill(app)
  const broadcast = await create([await group('First', emails('a', 40))], { messages_per_hour: 7_200 })
  await broadcast.start()
  await until('some emails', async () => (await broadcast.get()).counts.sent >= 10)
  // Four of them are reported as spam.
  await app.db.statement`
    insert into first_occurrences (organization_id, subject_id, event_name, flow_id, occurred_at)
    select organization_id, id, 'emailComplaint', flow_id, now() from messages
    where organization_id = ${parseId('org', app.organizationId)!} order by id limit 4`
  expect(await broadcast.ended('paused')).toMatchObject({
    reason: 'complaints',
    detail: expect.stringContaining('reported as spam'),
    results: { complained: 4 },
  })
})
