import { expect, test } from 'vitest'
import { emails, fill } from '../../../test/support/broadcasts.ts'
import { startNameServer } from '../../../test/support/name-server.ts'
import { startRelay } from '../../../test/support/relay.ts'
import { startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'

const recipients = 6

/** A service that requires verified domains, and a broadcast from one. No record is published. */
async function startWithDomain() {
  const relay = await startRelay({ parse: false })
  const names = await startNameServer(() => 'no such name')
  const app = await startTestApp({
    REQUIRE_VERIFIED_DOMAINS: 'true',
    MAIL_FROM: 'hello@operator.example',
    SMTP_URL: relay.url,
    SMTP_CONNECTIONS: '1',
    DNS_SERVERS: names.address,
  })
  const { flow, group, create } = await fill(app)
  const broadcast = await create([await group('All', emails('a', recipients))])
  const { id } = (await app.manage('POST', '/organization/domains', { name: 'acme.example' })).body.data
  await app.db.statement`update flow_versions set from_email = 'news@acme.example'`
  const verify = async () => (await app.manage('POST', `/organization/domains/${id}/verify`)).body.data.status
  const setVerified = () => app.db.statement`update domains set status = 'verified', verified_at = now()`
  const lose = async () => {
    await app.db.statement`update domains set status = 'warning', failing_since = now() - interval '2 days'`
    expect(await verify()).toBe('unverified')
  }
  return {
    ...{ relay, app, flow, broadcast, setVerified, lose },
    [Symbol.asyncDispose]: async () => {
      await app[Symbol.asyncDispose]()
      await names[Symbol.asyncDispose]()
      await relay[Symbol.asyncDispose]()
    },
  }
}

const statusOf = async ({ db }: TestApp) => (await db<{ status: string }>`select status from broadcasts`)[0]!.status

test('a broadcast from a domain that the organization has lost is not started', async () => {
  await using world = await startWithDomain()
  const { app, broadcast, relay } = world
  await world.setVerified()
  await world.lose()
  const refused = await broadcast.act('start', { expected_recipients: recipients })
  expect([refused.status, refused.body.error.type]).toEqual([422, 'sender_not_verified'])
  expect(await statusOf(app)).toBe('draft')
  expect(relay.mails).toEqual([])
})

test('a scheduled broadcast expires with the reason if its domain was lost before its time', async () => {
  await using world = await startWithDomain()
  const { app, broadcast, relay } = world
  await world.setVerified()
  const at = new Date(Date.now() + 24 * 60 * 60 * 1000).toISOString().slice(0, 16)
  const path = `/organization/broadcasts/${broadcast.id}`
  const planned = await app.manage('PATCH', path, { schedule: { at, time_zone: 'UTC' } })
  expect(planned.status, planned.text).toBe(200)
  const scheduled = await broadcast.act('schedule', { expected_recipients: recipients })
  expect(scheduled.status, scheduled.text).toBe(202)
  await world.lose()
  await app.db.statement`update broadcasts set starts_at = now()`
  await app.db.statement`update jobs set due_at = now() where kind like 'broadcast.%'`
  await app.db.statement`update lanes set next_due_at = now()`
  const ended = await broadcast.ended('expired')
  expect(ended.detail ?? ended.reason).toMatch(/acme\.example|not verified|verified/)
  expect(relay.mails).toEqual([])
})

test('once the domain is lost, a broadcast that is being sent starts no further email', async () => {
  await using world = await startWithDomain()
  const { broadcast, relay } = world
  await world.setVerified()
  let release = () => {}
  const released = new Promise<undefined>((resolve) => {
    release = () => resolve(undefined)
  })
  let arrived = 0
  relay.onData = () => {
    arrived++
    return released
  }
  const started = await broadcast.act('start', { expected_recipients: recipients })
  expect(started.status, started.text).toBe(202)
  await until('the first email', () => arrived > 0)
  await broadcast.act('pause')
  await world.lose()
  release()
  await broadcast.act('resume')
  const { counts } = await broadcast.ended('sent')
  expect(counts.sent).toBe(relay.mails.length)
  expect(counts.sent + counts.failed).toBe(recipients)
  const failed = await broadcast.recipients('failed')
  expect(failed.length).toBeGreaterThan(0)
  expect(new Set(failed.map(({ reason }) => reason)).size).toBe(1)
  expect(failed[0]!.reason).toMatch(/acme\.example/)
})
