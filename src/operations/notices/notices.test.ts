import { openRelay, type RelayState, type Transport } from '@waxwing/smtp-client'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { happen } from '../../../test/support/events.ts'
import { installationCarriers } from '../../../test/support/installation-servers.ts'
import { addMailServer } from '../../../test/support/mail-servers.ts'
import { queuedNoticeEmails, sendNoticeEmails } from '../../../test/support/notice-emails.ts'
import { join, registerOther } from '../../../test/support/people.ts'
import { startRelay } from '../../../test/support/relay.ts'
import { create } from '../../../test/support/resources.ts'
import { startSharedApp, startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { startReceiver } from '../../../test/support/webhook-receiver.ts'
import type { DomainStatus } from '../../delivery/domains/domain.ts'
import { findDomain } from '../../delivery/domains/domains.ts'
import { recordState } from '../../delivery/mail-servers/states.ts'
import { reportFailingEndpoints } from '../../events/webhooks/health.ts'
import { newId, type OrganizationId, parseId } from '../../platform/values/ids.ts'
import { createService } from '../../service.ts'
import { recordDomainChange } from './domain-notices.ts'
import { recordMailServerChange } from './mail-server-notices.ts'
import { recordFailingWebhook, recordFinishedImport, recordPausedWebhook } from './notices.ts'
import { reportRelayOutage } from './watch.ts'

/** For tests that send no emails about notices: those of all organizations are sent together. */
const newOrganization = await startSharedApp({}, ['serve'])

const log = pino({ level: 'silent' })
const settings = {
  baseUrl: 'https://mail.acme.example',
  mailFrom: { name: 'Acme', email: 'hello@acme.example' },
  bounceDomain: undefined,
}

async function subscribe(app: TestApp, name = 'Orders') {
  const body = { name, url: 'http://127.0.0.1:1/', all_events: true }
  const made = await app.manage('POST', '/organization/webhooks', body)
  const id = parseId('whk', made.body.data.id)!
  const organizationId = parseId('org', app.organizationId) as OrganizationId
  return { organizationId, id, name, text: made.body.data.id as string, failingSince: new Date('2026-01-02T03:04:05Z') }
}

const mail = (app: TestApp, relay?: Transport) =>
  sendNoticeEmails({
    db: app.db,
    log,
    settings,
    carriers: installationCarriers(app.db, settings, relay),
  })
const waiting = (app: TestApp) => queuedNoticeEmails(app.db)
const makeDue = async (app: TestApp) => {
  await app.db.statement`update jobs set due_at = now() where kind = 'notice.email'`
  await app.db.statement`update lanes set next_due_at = now() where kind = 'notice.email'`
}

test('a webhook that is paused automatically creates a notice and an email to every owner', async () => {
  await using app = await startTestApp({}, ['serve'])
  await join(app, 'second@acme.example', 'owner')
  const member = await join(app, 'member@acme.example', 'member')
  const other = await registerOther(app)
  const webhook = await subscribe(app, 'Orders <b>&')
  // The failure was reported before, so only the pause is reported now.
  await app.db.statement`
    update webhooks
    set failing_since = now() - interval '4 days', last_attempt_at = now(), failing_notified_at = now()`
  const secrets = { current: 'a secret that only the tests know, and all of them do', previous: undefined }
  const worker = await createService({ config: app.config, secrets, db: app.db, log, roles: ['work'] })
  await worker.start()
  await until('the pause to be noted', async () => (await app.db`select from notices`).length > 0)
  await worker.stop()
  await makeDue(app)

  await mail(app)

  const notices = (await member.manage('GET', '/organization/notices')).body.data
  expect(notices).toMatchObject([
    { kind: 'webhook_paused', title: 'The webhook “Orders <b>&” was paused', webhook_id: webhook.text },
  ])
  expect((await other.manage('GET', '/organization/notices')).body.data).toEqual([])
  const inbox = (await app.manage('GET', '/organization/inbox')).body.data
  expect(inbox.map(({ to }: { to: string }) => to).sort()).toEqual(['owner@acme.example', 'second@acme.example'])
  expect(inbox[0]).toMatchObject({ subject: notices[0].title, message_id: null })
  const shown = (await app.manage('GET', `/organization/inbox/${inbox[0].id}`)).body.data
  expect(shown.html).toContain('Orders &lt;b&gt;&amp;')
  expect(shown.text).toContain(`/developers/webhooks/${webhook.text}`)
  expect((await other.manage('GET', '/organization/inbox')).body.data).toEqual([])
  expect(await waiting(app)).toEqual([])
})

test('a notice is sent through the relay once, from the sender of the service', async () => {
  await using relay = await startRelay()
  await using app = await startTestApp({}, ['serve'])
  const transport = openRelay(relay.url)
  const webhook = await subscribe(app)
  await app.db.begin((tx) => recordPausedWebhook(tx, webhook))

  await Promise.all([mail(app, transport), mail(app, transport)])
  await mail(app, transport)
  await transport.close()

  expect(relay.alerts).toMatchObject([
    {
      sender: 'hello@acme.example',
      recipient: 'owner@acme.example',
      mail: { from: { name: 'Acme' }, subject: 'The webhook “Orders” was paused' },
    },
  ])
  expect(relay.alerts[0]!.mail.text).toContain('since 2026-01-02 03:04 UTC')
  expect(relay.alerts[0]!.raw).toContain('Auto-Submitted: auto-generated')
  expect(await waiting(app)).toEqual([])
})

test('a deferred notice is retried with the same Message-ID; a rejected one is not', async () => {
  await using relay = await startRelay()
  await using app = await startTestApp({}, ['serve'])
  await join(app, 'refused@acme.example', 'owner')
  const transport = openRelay(relay.url)
  const webhook = await subscribe(app)
  await app.db.begin((tx) => recordPausedWebhook(tx, webhook))
  const ids: (string | undefined)[] = []
  relay.onRecipient = (to) => (to.startsWith('refused') ? { code: 550, text: '5.1.1 no such user' } : undefined)
  relay.onData = ({ mail }) => {
    ids.push(mail.messageId)
    return ids.length === 1 ? { code: 451, text: '4.3.0 later' } : undefined
  }

  await mail(app, transport)
  expect(await waiting(app)).toHaveLength(1)
  await mail(app, transport)
  expect(ids).toHaveLength(1)
  await makeDue(app)
  await mail(app, transport)
  await transport.close()

  expect(ids).toEqual([ids[0], ids[0]])
  expect(relay.alerts).toHaveLength(1)
  expect(await waiting(app)).toEqual([])
})

test('former owners receive no notices, and old notices are not sent', async () => {
  await using app = await startTestApp({}, ['serve'])
  const second = await join(app, 'second@acme.example', 'owner')
  const webhook = await subscribe(app)
  await app.db.begin((tx) => recordPausedWebhook(tx, webhook))
  await app.db.statement`update notices set created_at = now() - interval '4 days'`
  await app.db.begin((tx) => recordPausedWebhook(tx, webhook))
  await app.manage('DELETE', `/organization/members/${second.id}`)

  await mail(app)

  const inbox = (await app.manage('GET', '/organization/inbox')).body.data
  expect(inbox.map(({ to }: { to: string }) => to)).toEqual(['owner@acme.example'])
  expect(await waiting(app)).toEqual([])
})

test('many emails that are no longer wanted do not delay the others', async () => {
  await using app = await startTestApp({}, ['serve'])
  const webhook = await subscribe(app)
  for (let count = 0; count < 3; count++) await app.db.begin((tx) => recordPausedWebhook(tx, webhook))
  await app.db.statement`
    insert into jobs (organization_id, kind, lane, id, payload, due_at)
    select organization_id, kind, lane, gen_random_uuid(), payload || ${JSON.stringify({ userId: newId('usr') })}::jsonb,
      now() - interval '1 hour'
    from generate_series(1, 120), (select * from jobs where kind = 'notice.email' limit 1) as email`
  await mail(app)
  expect(await waiting(app)).toEqual([])
  expect(await app.db`select from inbox`).toHaveLength(3)
})

test('the newest twenty notices are listed, and two hundred are kept', async () => {
  const app = await newOrganization()
  const webhook = await subscribe(app)
  await app.db.begin(async (tx) => {
    for (let n = 1; n <= 203; n++) await recordPausedWebhook(tx, { ...webhook, name: `W${n}` })
  })
  const { data } = (await app.manage('GET', '/organization/notices')).body
  expect(data).toHaveLength(20)
  expect(data[0].title).toContain('W203')
  const [kept] = await app.db<{ count: number }>`
    select count(*) from notices where organization_id = ${webhook.organizationId}`
  expect(kept!.count).toBe(200)
})

test('owners get one email when an endpoint starts failing, and another only for a later failing period', async () => {
  await using receiver = await startReceiver((response) => response.writeHead(503).end(), { plain: true })
  await using app = await startTestApp({ WEBHOOK_RETRY_DELAYS: '0.03' })
  const body = { name: 'Orders', url: receiver.url(), all_events: true }
  const { id } = await create(app, '/webhooks', body)
  const failing = () => reportFailingEndpoints({ db: app.db, log, onFailing: recordFailingWebhook })
  const inbox = async () => (await app.manage('GET', '/organization/inbox')).body.data
  const fail = async () => {
    await happen(app.db, app.organizationId, 'emailOpen', 1)
    await until('the endpoint to fail', async () => {
      const { data } = (await app.manage('GET', `/organization/webhooks/${id}`)).body
      return data.failing_since
    })
  }

  await fail()
  await failing()
  expect(await waiting(app)).toEqual([])
  await app.db.statement`update webhooks set failing_since = now() - interval '6 minutes'`
  // The result of a test event is not the last result.
  await app.manage('POST', `/organization/webhooks/${id}/test`, { event_name: 'emailOpen' })
  await app.db.statement`update deliveries set reason = 'of the test' where is_test`
  await Promise.all([failing(), failing()])
  await failing()
  await mail(app)

  const [received, ...others] = await inbox()
  expect(others).toEqual([])
  expect(received).toMatchObject({ to: 'owner@acme.example', subject: 'The webhook “Orders” is failing' })
  const { text } = (await app.manage('GET', `/organization/inbox/${received.id}`)).body.data
  expect(text).toMatch(
    /Deliveries have been failing since [\d-]+ [\d:]+ UTC\. The last result was: Responded 503 \(200 expected\)/,
  )
  expect(text).toContain(`/developers/webhooks/${id}`)
  expect((await app.manage('GET', '/organization/notices')).body.data).toMatchObject([
    { kind: 'webhook_failing', webhook_id: id },
  ])

  // It recovers and fails again within a day: no second email. A day later there is one.
  await app.db.statement`update webhooks set failing_since = now() - interval '10 minutes',
    failing_notified_at = now() - interval '20 minutes'`
  await failing()
  expect(await waiting(app)).toEqual([])
  await app.db.statement`update webhooks set failing_notified_at = now() - interval '25 hours'`
  await failing()
  expect(await waiting(app)).toHaveLength(1)
})

test('an address that cannot be used in an email does not prevent the emails to others', async () => {
  await using app = await startTestApp({}, ['serve'])
  await join(app, 'second@acme.example', 'owner')
  await app.db.statement`update users set email = 'jörg@acme.example' where email = 'second@acme.example'`
  const webhook = await subscribe(app)
  await app.db.begin((tx) => recordPausedWebhook(tx, webhook))
  await mail(app)
  const inbox = (await app.manage('GET', '/organization/inbox')).body.data
  expect(inbox.map(({ to }: { to: string }) => to)).toEqual(['owner@acme.example'])
  expect(await waiting(app)).toEqual([])
})

const listed = async ({ manage }: Pick<TestApp, 'manage'>, query = '?state=open') =>
  (await manage('GET', `/organization/notices${query}`)).body.data as { id: string; title: string; state: string }[]
const titles = async (app: Pick<TestApp, 'manage'>) => (await listed(app)).map(({ title }) => title)
const states = async (app: Pick<TestApp, 'manage'>) => (await listed(app, '')).map(({ state }) => state)

test('a notice is open as long as its cause lasts, and a second incident is not shown twice', async () => {
  const app = await newOrganization()
  const organizationId = parseId('org', app.organizationId) as OrganizationId
  const text = await addMailServer(app, { name: 'Relay one', url: 'smtp://127.0.0.1:9' })
  const key = { organizationId, id: parseId('mse', text)! }
  const observe = (state: RelayState) => recordState({ db: app.db, log, onChange: recordMailServerChange }, key, state)
  const fail = () =>
    observe({ kind: 'down', since: new Date(Date.now() - 10_000), reason: 'connection refused', nextTryAt: new Date() })
  const failing = 'The mail server Relay one does not accept email'
  await fail()
  expect(await titles(app)).toEqual([failing])
  await observe({ kind: 'up' })
  expect([await titles(app), await states(app)]).toEqual([[], ['resolved']])
  await fail()
  expect([await titles(app), await states(app)]).toEqual([[failing], ['open', 'resolved']])
  await app.manage('DELETE', `/organization/mail-servers/${text}`)
  expect(await titles(app)).toEqual([])

  const webhook = await subscribe(app)
  await app.db.statement`update webhooks set failing_since = now() - interval '10 minutes' where id = ${webhook.id}`
  await app.db.begin((tx) => recordFailingWebhook(tx, { ...webhook, lastReason: null }))
  expect(await titles(app)).toEqual(['The webhook “Orders” is failing'])
  await app.db.statement`update webhooks set status = 'paused' where id = ${webhook.id}`
  await app.db.begin((tx) => recordPausedWebhook(tx, webhook))
  expect(await titles(app)).toEqual(['The webhook “Orders” was paused'])
  await app.db.statement`update webhooks set failing_since = null where id = ${webhook.id}`
  await app.manage('PATCH', `/organization/webhooks/${webhook.text}`, { status: 'active' })
  expect(await titles(app)).toEqual([])

  const { id } = await create(app, '/domains', { name: 'acme.example.com' })
  const become = async (status: DomainStatus, before: DomainStatus) => {
    await app.db
      .statement`update domains set status = ${status}, failing_since = now() where id = ${parseId('dom', id)!}`
    const domain = (await findDomain(app.db, organizationId, parseId('dom', id)!))!
    await app.db.begin((tx) => recordDomainChange(tx, domain, before))
  }
  await become('warning', 'verified')
  expect(await titles(app)).toEqual(['A DNS record of acme.example.com has vanished'])
  await become('unverified', 'warning')
  expect(await titles(app)).toEqual(['acme.example.com is no longer verified'])
  await become('verified', 'unverified')
  expect(await titles(app)).toEqual([])
  expect(new Set(await states(app))).toEqual(new Set(['resolved']))
})

test('the notice about SMTP_URL is open until it accepts email', async () => {
  const gone = await startRelay()
  await gone.stop()
  await using app = await startTestApp({ SMTP_URL: gone.url }, ['serve'])
  const check = () => app.manage('POST', '/organization/sending/check')
  await check()
  const since = new Date(Date.now() - 10 * 60_000)
  const relay = { state: () => ({ kind: 'down' as const, since, reason: 'refused', nextTryAt: new Date() }) }
  await reportRelayOutage({ db: app.db, log, relay })
  expect(await titles(app)).toEqual(['The mail server can’t be reached'])
  await using _back = await startRelay({ port: gone.port })
  await check()
  expect([await titles(app), await states(app)]).toEqual([[], ['resolved']])
})

test('an owner dismisses a notice for the organization, until it happens again', async () => {
  const app = await newOrganization()
  const member = await join(app, 'member@acme.example', 'member')
  const other = await registerOther(app)
  const webhook = await subscribe(app)
  await app.db.statement`update webhooks set status = 'paused' where id = ${webhook.id}`
  await app.db.begin((tx) => recordPausedWebhook(tx, webhook))
  const [notice] = await listed(app)
  const dismiss = (person: Pick<TestApp, 'manage'>, id = notice!.id) =>
    person.manage('POST', `/organization/notices/${id}/dismiss`)
  expect([(await dismiss(member)).status, (await dismiss(other)).status]).toEqual([403, 404])
  expect([(await dismiss(app, 'ntc_1')).status, await titles(member)]).toEqual([404, [notice!.title]])
  expect([(await dismiss(app)).status, (await dismiss(app)).status]).toEqual([200, 200])
  expect([await titles(member), await states(member)]).toEqual([[], ['dismissed']])
  await app.db.begin((tx) => recordPausedWebhook(tx, webhook))
  expect([await titles(member), await states(member)]).toEqual([[notice!.title], ['open', 'dismissed']])
})

test('an open notice is neither hidden by newer ones nor deleted with old ones', async () => {
  const app = await newOrganization()
  const webhook = await subscribe(app)
  await app.db.statement`update webhooks set status = 'paused' where id = ${webhook.id}`
  await app.db.begin((tx) => recordPausedWebhook(tx, webhook))
  await app.db.statement`
    update notices set created_at = now() - interval '30 days' where organization_id = ${webhook.organizationId}`
  const userId = (await app.manage('GET', '/me')).body.data.user.id
  const done = { organizationId: webhook.organizationId, createdBy: parseId('usr', userId)!, fault: null }
  await app.db.begin(async (tx) => {
    for (let n = 1; n <= 203; n++)
      await recordFinishedImport(tx, {
        ...{ ...done, id: newId('imp'), fileName: `${n}.csv` },
        ...{ created: 1, updated: 0, rejected: 0 },
      })
  })
  expect(await titles(app)).toEqual(['The webhook “Orders” was paused'])
  const kept = await app.db`select from notices where organization_id = ${webhook.organizationId}`
  expect(kept).toHaveLength(201)
})
