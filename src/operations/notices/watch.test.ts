import { pino } from 'pino'
import { expect, test } from 'vitest'
import { happen } from '../../../test/support/events.ts'
import { installationCarriers } from '../../../test/support/installation-servers.ts'
import { sendNoticeEmails } from '../../../test/support/notice-emails.ts'
import { join, registerOther } from '../../../test/support/people.ts'
import { startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { rebuildCounters } from '../../events/recording/rebuild.ts'
import { reportHighRates, reportRelayOutage } from './watch.ts'

const log = pino({ level: 'silent' })
const settings = {
  baseUrl: 'https://mail.acme.example',
  mailFrom: { name: 'Acme', email: 'hello@acme.example' },
  bounceDomain: undefined,
}
const minuteMs = 60_000

const mail = (app: TestApp) =>
  sendNoticeEmails({
    db: app.db,
    log,
    settings,
    carriers: installationCarriers(app.db, settings),
  })
const inboxOf = async ({ manage }: Pick<TestApp, 'manage'>) =>
  (await manage('GET', '/organization/inbox')).body.data as { id: string; to: string; subject: string }[]
const noticesOf = async ({ manage }: Pick<TestApp, 'manage'>) =>
  (await manage('GET', '/organization/notices')).body.data as { kind: string; title: string; path: string | null }[]

test('an outage of the relay is reported once, after five minutes, to the owners who want it', async () => {
  await using app = await startTestApp({}, ['serve'])
  const quiet = await join(app, 'quiet@acme.example', 'owner')
  await quiet.manage('PATCH', '/me', { alerts: { sending: false } })
  const other = await registerOther(app)
  const since = new Date(Date.now() - 10_000)
  const down = { kind: 'down' as const, since, reason: 'connection refused', nextTryAt: new Date() }
  const report = (state: typeof down | { kind: 'up' }, afterMs: number) =>
    reportRelayOutage({ db: app.db, log, relay: { state: () => state } }, since.getTime() + afterMs)

  await report({ kind: 'up' }, 10 * minuteMs)
  await report(down, 4 * minuteMs)
  expect(await noticesOf(app)).toEqual([])
  // Two processes see the same outage.
  await Promise.all([
    report(down, 5 * minuteMs),
    report({ ...down, since: new Date(since.getTime() - 500) }, 5 * minuteMs),
  ])
  await report(down, 30 * minuteMs)
  await mail(app)

  expect(await noticesOf(app)).toMatchObject([{ kind: 'relay_down', path: '/sending/setup' }])
  expect(await noticesOf(other)).toEqual([])
  const inbox = await inboxOf(app)
  expect(inbox.map(({ to }) => to)).toEqual(['owner@acme.example'])
  const { text } = (await app.manage('GET', `/organization/inbox/${inbox[0]!.id}`)).body.data
  expect(text).toContain('connection refused')
  expect(text).toContain('https://mail.acme.example/sending/setup')
  expect(text).toContain('https://mail.acme.example/settings/profile')
})

test('a high bounce or complaint rate is reported once a day; normal rates and few emails are not', async () => {
  await using app = await startTestApp({}, ['serve'])
  const other = await registerOther(app)
  const few = await registerOther(app, 'few@few.example')
  const day = async (organizationId: string, sent: number, bounces: number, complaints: number) => {
    await happen(app.db, organizationId, 'emailSent', sent)
    if (bounces > 0) await happen(app.db, organizationId, 'emailHardBounce', bounces)
    if (complaints > 0) await happen(app.db, organizationId, 'emailComplaint', complaints)
  }
  await day(app.organizationId, 200, 11, 3)
  await day(other.organizationId, 200, 10, 2)
  await day(few.organizationId, 99, 50, 50)
  await rebuildCounters(app.db)

  await Promise.all([reportHighRates({ db: app.db, log }), reportHighRates({ db: app.db, log })])

  expect((await noticesOf(app)).map(({ kind, title }) => [kind, title]).sort()).toEqual([
    ['bounce_rate', '5.5% of your emails bounce'],
    ['complaint_rate', 'Your complaint rate is 1.5%'],
  ])
  expect([await noticesOf(other), await noticesOf(few)]).toEqual([[], []])
  await mail(app)
  expect((await inboxOf(app)).map(({ to }) => to)).toEqual(['owner@acme.example', 'owner@acme.example'])
  await app.db.statement`update notices set created_at = now() - interval '25 hours'`
  await reportHighRates({ db: app.db, log })
  expect(await noticesOf(app)).toHaveLength(4)
})

test('the user who started an import gets an email when it has finished or failed, unless it is switched off', async () => {
  await using app = await startTestApp()
  const bob = await join(app, 'bob@acme.example', 'member')
  const headers = async (email: string) => {
    const body = { email, password: 'correct horse battery' }
    const { token } = (await app.call('POST', '/api/v1/auth/login', { body })).body.data
    return { authorization: `Bearer ${token}`, 'content-type': 'text/csv' }
  }
  const upload = async (email: string, raw: string) =>
    app.call('POST', `/api/v1/organization/contacts/import?filename=${email}.csv`, {
      headers: await headers(email),
      raw,
    })
  await app.manage('PATCH', '/me', { alerts: { imports: false } })
  await upload('bob@acme.example', 'email\ncarol@example.com\nnot an address\n')
  await upload('bob@acme.example', 'name\nCarol\n')
  await upload('owner@acme.example', 'email\ndave@example.com\n')
  await until('the imports', async () => (await noticesOf(app)).length === 3)
  await mail(app)

  const inbox = await inboxOf(app)
  expect(inbox.map(({ to, subject }) => [to, subject]).sort()).toEqual([
    [bob.email, 'The import of “bob@acme.example.csv” failed'],
    [bob.email, 'The import of “bob@acme.example.csv” has finished'],
  ])
  const finished = inbox.find(({ subject }) => subject.includes('finished'))!
  const { text } = (await app.manage('GET', `/organization/inbox/${finished.id}`)).body.data
  expect(text).toContain('1 contact created, 0 updated, 1 row rejected.')
  expect(text).toMatch(/\/contacts\/imports\/imp_/)
})
