import { pino } from 'pino'
import { expect, test } from 'vitest'
import { emails, fill } from '../../test/support/broadcasts.ts'
import { join } from '../../test/support/people.ts'
import { startRelay } from '../../test/support/relay.ts'
import { startTestApp, type TestApp } from '../../test/support/test-app.ts'
import { until } from '../../test/support/until.ts'
import { dayMs, hourMs } from '../platform/values/durations.ts'
import { createService } from '../service.ts'

const inHours = (hours: number) => new Date(Date.now() + hours * hourMs).toISOString()
const pathOf = ({ id }: { id: string }) => `/organization/broadcasts/${id}`

/** When the step that starts a broadcast is due. */
async function dueTimes(app: TestApp): Promise<number[]> {
  const rows = await app.db<{ dueAt: Date }>`select due_at from jobs where kind = 'broadcast.step' order by due_at`
  return rows.map(({ dueAt }) => +dueAt)
}

/**
 * Moves a scheduled broadcast to a time that comes soon. On a slow machine that may have passed, and is rejected: the next
 * try leaves more time.
 */
const moveSoon = (app: TestApp, broadcast: { id: string }, firstDelayMs = 300) => {
  let delayMs = firstDelayMs
  return until('the broadcast to be moved', async () => {
    const schedule = { at: new Date(Date.now() + delayMs).toISOString() }
    delayMs *= 2
    return (await app.manage('PATCH', pathOf(broadcast), { schedule })).status === 200
  })
}

test('a scheduled broadcast is edited, moved to a later and an earlier time, and sent now', async () => {
  await using relay = await startRelay()
  await using app = await startTestApp({ SMTP_URL: relay.url })
  const { group, create } = await fill(app)
  const [first, second] = [await group('First', emails('a', 2)), await group('Second', emails('b', 3))]
  const broadcast = await create([first], { schedule: { at: inHours(2) } })
  await broadcast.start('schedule')
  const patch = async (changes: object) => app.manage('PATCH', pathOf(broadcast), changes)

  expect((await patch({ subject: 'Other news', audience: { group_ids: [second] } })).body.data).toMatchObject({
    status: 'scheduled',
    subject: 'Other news',
    audience: { group_ids: [second] },
  })
  for (const hours of [5, 1]) {
    const at = inHours(hours)
    expect((await patch({ schedule: { at } })).body.data).toMatchObject({ status: 'scheduled', starts_at: at })
    // One step, which a worker postpones to the new time.
    await until('the step to wait for the new time', async () => {
      const [due, ...others] = await dueTimes(app)
      expect(others).toEqual([])
      return Math.abs(due! - Date.parse(at)) < 1_000
    })
  }
  const refused = [
    [{ schedule: { at: null } }, 'schedule.at'],
    [{ schedule: { at: inHours(-1) } }, 'schedule.at'],
    [{ audience: {} }, 'audience'],
    [{ flow_id: null }, 'flow_id'],
  ] as const
  for (const [changes, path] of refused)
    expect((await patch(changes)).body.error.fields[0].path, JSON.stringify(changes)).toBe(path)

  expect((await broadcast.act('send-now', { expected_recipients: 2 })).status).toBe(409)
  const sent = await broadcast.act('send-now', { expected_recipients: 3 })
  expect([sent.status, sent.body.data.schedule.at]).toEqual([202, null])
  expect((await broadcast.ended()).recipients).toBe(3)
  expect(new Set(relay.mails.map(({ mail }) => mail.subject))).toEqual(new Set(['Other news']))
  expect((await patch({ name: 'Late' })).status).toBe(409)
  expect((await broadcast.act('send-now')).status).toBe(409)
  expect(relay.mails).toHaveLength(3)
})

test('a change and the moment of the start never mix: the last accepted change is what is sent', async () => {
  await using relay = await startRelay({ parse: false })
  await using app = await startTestApp({ SMTP_URL: relay.url })
  const { group, create } = await fill(app)
  const groups = [await group('Two', emails('a', 2)), await group('Three', emails('b', 3))]
  const race = async (delayMs: number) => {
    const broadcast = await create([groups[0]!], { schedule: { at: inHours(1) } })
    await broadcast.start('schedule')
    await moveSoon(app, broadcast, delayMs)
    let expected = 2
    for (let turn = 1; ; turn++) {
      const at = turn % 2
      const { status } = await app.manage('PATCH', pathOf(broadcast), { audience: { group_ids: [groups[at]] } })
      if (status !== 200) {
        expect(status).toBe(409)
        return { broadcast, expected }
      }
      expected = at === 0 ? 2 : 3
    }
  }
  for (const { broadcast, expected } of await Promise.all([200, 300, 400, 500].map(race)))
    expect((await broadcast.ended()).recipients).toBe(expected)

  // Moved, sent now, cancelled and due at the same time: one of them decides, and everybody gets at most one email.
  const broadcast = await create([groups[0]!], { schedule: { at: inHours(1) } })
  await broadcast.start('schedule')
  await moveSoon(app, broadcast)
  const before = relay.mails.length
  const answers = await Promise.all([
    broadcast.act('send-now'),
    broadcast.act('send-now'),
    app.manage('PATCH', pathOf(broadcast), { schedule: { at: inHours(3) } }),
  ])
  for (const { status } of answers) expect([200, 202, 409]).toContain(status)
  const now = await broadcast.get()
  if (now.status === 'scheduled') await broadcast.act('send-now')
  expect((await broadcast.ended()).counts).toMatchObject({ recipients: 2, sent: 2 })
  expect(relay.mails.length - before).toBe(2)
})

test('a broadcast that was sent now or moved is sent although the processes of that time are gone', async () => {
  await using relay = await startRelay({ parse: false })
  await using app = await startTestApp({ SMTP_URL: relay.url }, ['serve'])
  const { group, create } = await fill(app)
  const groupId = await group('First', emails('a', 2))
  const plan = async () => {
    const broadcast = await create([groupId], { schedule: { at: inHours(1) } })
    await broadcast.start('schedule')
    return broadcast
  }
  const [sentNow, moved, killed] = [await plan(), await plan(), await plan()]
  expect((await sentNow.act('send-now')).body.data.status).toBe('preparing')
  await moveSoon(app, moved)
  // As if a worker was killed right after it had begun with it.
  await moveSoon(app, killed)
  await app.db.statement`
    update broadcasts set status = 'preparing'
    where id = (select id from broadcasts where status = 'scheduled' order by id desc limit 1)`
  const { config, secrets, db } = app
  const worker = await createService({ config, secrets, db, log: pino({ level: 'silent' }), roles: ['work'] })
  await worker.start()
  for (const broadcast of [sentNow, moved, killed]) expect((await broadcast.ended()).counts.sent).toBe(2)
  await worker.stop()
  expect(relay.mails).toHaveLength(6)
})

test('a scheduled broadcast is changed and sent now only by those who may start it', async () => {
  await using app = await startTestApp({}, ['serve'])
  const { make, group, create } = await fill(app)
  const groupId = await group('First', emails('a', 2))
  const broadcast = await create([groupId], { schedule: { at: new Date(Date.now() + dayMs).toISOString() } })
  const { id: memberId, manage: asMember } = await join(app, 'eve@acme.example', 'member')
  const key = (await make('/api-keys', { name: 'k', scopes: ['broadcasts:write'] })).api_key
  const byKey = (method: string, url: string, body?: object) =>
    app.call(method, `/api/v1${url}`, { headers: { 'x-api-token': key }, body })
  const tryAll = async (call: typeof byKey) => [
    (await call('PATCH', pathOf(broadcast), { name: 'Renamed' })).status,
    (await call('POST', `${pathOf(broadcast)}/send-now`, { expected_recipients: 99 })).status,
  ]
  expect(await tryAll(asMember)).toEqual([200, 403])
  await broadcast.start('schedule')
  expect(await tryAll(asMember)).toEqual([403, 403])
  expect(await tryAll(byKey)).toEqual([403, 403])
  await app.manage('PATCH', `/organization/members/${memberId}`, { can_start_broadcasts: true })
  expect(await tryAll(asMember)).toEqual([200, 409])

  // Who gets a service announcement was confirmed by an owner.
  const flow = { name: 'Terms', kind: 'transactional', subject: 'Terms', html: '<p>Terms</p>' }
  const content = { flow_id: (await make('/flows', flow)).id, service_announcement: true }
  const terms = await create([groupId], { ...content, schedule: { at: inHours(5) } })
  await terms.act('schedule', { expected_unsubscribed: 0 })
  expect((await asMember('PATCH', pathOf(terms), { subject: 'New terms' })).status).toBe(403)
  expect((await app.manage('PATCH', pathOf(terms), { subject: 'New terms' })).status).toBe(200)
  for (const changes of [{ audience: { all_subscribed: true } }, { service_announcement: false, flow_id: null }])
    expect((await app.manage('PATCH', pathOf(terms), changes)).status).toBe(409)
  expect((await terms.act('send-now')).status).toBe(422)
  expect((await terms.act('send-now', { expected_unsubscribed: 0 })).status).toBe(202)
})
