import { afterAll, beforeAll, expect, test } from 'vitest'
import { fill } from '../../../test/support/broadcasts.ts'
import { createFlow, send } from '../../../test/support/flows.ts'
import { addMailServer } from '../../../test/support/mail-servers.ts'
import { getMessage } from '../../../test/support/messages.ts'
import { startNameServer } from '../../../test/support/name-server.ts'
import { startRelay } from '../../../test/support/relay.ts'
import { startSharedApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { parseId } from '../../platform/values/ids.ts'

const names = await startNameServer(
  () => [],
  (name) => ({ mx: name === 'workspace.test' ? ['10 aspmx.l.google.com'] : [] }),
)
const relay = await startRelay()
afterAll(async () => {
  await relay[Symbol.asyncDispose]()
  await names[Symbol.asyncDispose]()
})
const newOrganization = await startSharedApp({
  SMTP_URL: relay.url,
  SMTP_SHAPING: 'true',
  DNS_SERVERS: names.address,
  MAIL_RETRY_DELAYS: '0.05,0.05,3600',
  PROVIDER_POSTMARK_TOKEN: 'the password',
})

/** An organization with a mail server that shapes its email. */
async function shapedOrganization(): Promise<TestApp> {
  const app = await newOrganization()
  await addMailServer(app, { url: relay.url, shape_by_receiver: true })
  return app
}

const setLimit = (app: TestApp, site: string, perSecond: number) =>
  app.manage('PUT', `/organization/receiving-sites/${site}`, { messages_per_second: perSecond, messages_per_day: null })

const siteOf = async (app: TestApp, id: string) => {
  const { body } = await app.manage('GET', '/organization/receiving-sites')
  return body.data.find(({ site }: { site: string }) => site === id)
}

const sentTo = (domain: string) => relay.mails.filter(({ recipient }) => recipient.endsWith(`@${domain}`)).length

beforeAll(async () => {
  const { db } = await newOrganization()
  await db.statement`
    insert into receiving_sites (organization_id, site, has_limits, messages_per_second)
    select id, 'shared.test', true, 0.001 from organizations where is_operator`
})

test('a broadcast to a slow site waits there and nowhere else, and can be paused and cancelled', async () => {
  const app = await shapedOrganization()
  await setLimit(app, 'slow-a.test', 0.001)
  const { group, create } = await fill(app)
  const to = (domain: string) => Array.from({ length: 40 }, (_, index) => `a${index}@${domain}`)
  const broadcast = await create([await group('All', [...to('slow-a.test'), ...to('fast-a.test')])])
  await broadcast.start()
  await until('all recipients but those of the slow site', async () => {
    const { counts } = await broadcast.get()
    return counts.sent === 41 && counts.queued === 39
  })
  expect([sentTo('fast-a.test'), sentTo('slow-a.test')]).toEqual([40, 1])
  const [queued] = await broadcast.recipients('queued')
  expect(await getMessage(app, queued!.message_id!)).toMatchObject({
    status: 'queued',
    waiting: { cause: 'limit', detail: 'limit per second of email to slow-a.test', attempts: 0 },
  })

  await broadcast.act('pause')
  expect((await broadcast.get()).status).toBe('paused')
  await broadcast.act('cancel')
  const { counts } = await broadcast.ended('cancelled')
  await until('the end of the emails that waited', async () => (await broadcast.get()).counts.queued === 0)
  expect(counts.sent).toBe(41)
  expect(sentTo('slow-a.test')).toBe(1)
})

test('all domains of a provider share its limit, and email to other sites does not wait', async () => {
  const app = await shapedOrganization()
  await setLimit(app, 'google', 0.001)
  const flowId = await createFlow(app)
  const first = await send(app, flowId, { contact_email: 'b@gmail.com' })
  await until('the first email', async () => (await getMessage(app, first.body.data.message_id)).status === 'sent')
  const second = await send(app, flowId, { contact_email: 'b@workspace.test' })
  const shown = await until('the reason', async () => {
    const message = await getMessage(app, second.body.data.message_id)
    return message.waiting?.cause === 'limit' && message
  })
  expect(shown.waiting).toMatchObject({ detail: 'limit per second of email to Google', attempts: 0 })
  expect(Date.parse(shown.waiting.next_attempt_at)).toBeGreaterThan(Date.now() + 60_000)
  const other = await send(app, flowId, { contact_email: 'b@other.test' })
  await until('the other email', async () => (await getMessage(app, other.body.data.message_id)).status === 'sent')
})

test('all organizations share the limits of the operator for SMTP_URL', async () => {
  const [first, second] = [await newOrganization(), await newOrganization()]
  const ids: string[] = []
  for (const app of [first, second]) {
    const sent = await send(app, await createFlow(app), { contact_email: 'f@shared.test' })
    ids.push(sent.body.data.message_id)
    if (app === first) await until('the email', async () => (await getMessage(app, ids[0]!)).status === 'sent')
  }
  const waiting = await until('the reason', async () => (await getMessage(second, ids[1]!)).waiting?.detail)
  expect(waiting).toBe('limit per second of email to shared.test')
})

test('a site that answers 4.7.x twice is slowed down, with its words', async () => {
  const app = await shapedOrganization()
  const text = '4.7.28 Gmail has detected an unusual rate of unsolicited mail'
  relay.onRecipient = (address) => (address.startsWith('c@') ? { code: 421, text } : undefined)
  await send(app, await createFlow(app), { contact_email: 'c@gmail.com' })
  const slowed = await until('the site to be slowed down', async () => {
    const site = await siteOf(app, 'google')
    return site.slowed_until && site
  })
  relay.onRecipient = () => undefined
  expect(slowed).toMatchObject({ messages_per_second: 20, slowed_reason: expect.stringContaining(text) })
  const reset = await app.manage('DELETE', '/organization/receiving-sites/google')
  expect(reset.body.data).toMatchObject({ slowed_until: null, is_changed: false })
})

test('bounces with 4.7.x slow a site down as well', async () => {
  const app = await shapedOrganization()
  const flowId = await createFlow(app)
  const details = 'smtp;421 4.7.0 [TSS04] Messages temporarily deferred due to unexpected volume'
  for (const name of ['e1', 'e2']) {
    await send(app, flowId, { contact_email: `${name}@yahoo.com` })
    const mail = await until('the email', () => relay.mails.find(({ recipient }) => recipient === `${name}@yahoo.com`))
    const [, id] = /^X-PM-Metadata-waxwing-id: (\S+)/im.exec(mail.raw)!
    const authorization = `Basic ${Buffer.from('hook:the password').toString('base64')}`
    await app.call('POST', '/providers/postmark/events', {
      headers: { authorization },
      body: { RecordType: 'Bounce', Type: 'SoftBounce', Details: details, Metadata: { 'waxwing-id': id } },
    })
  }
  const slowed = await until('the site to be slowed down', async () => {
    const site = await siteOf(app, 'yahoo')
    return site.slowed_until && site
  })
  expect(slowed.slowed_reason).toBe(details)
})

test('limits are set for listed sites and domains only', async () => {
  const app = await newOrganization()
  expect((await setLimit(app, 'nonsense', 1)).status).toBe(422)
  expect((await setLimit(app, 'Example.COM', 1)).body.data).toMatchObject({ site: 'example.com', is_changed: true })
  expect(await siteOf(app, 'example.com')).toMatchObject({ messages_per_second: 1, default_messages_per_second: null })
})

test('a warm-up delays marketing email until the next day, and transactional email never', async () => {
  const app = await shapedOrganization()
  const { body } = await app.manage('POST', '/organization/domains', { name: 'warm.example.com' })
  const { id } = body.data
  const organizationId = parseId('org', app.organizationId)!
  await app.db.statement`
    update domains set status = 'verified', verified_at = now()
    where organization_id = ${organizationId} and name = 'warm.example.com'`
  const path = `/organization/domains/${id}/warm-up`
  expect((await app.manage('GET', path)).body.data).toBeNull()
  expect((await app.manage('PUT', path, { plan: [2, 50] })).body.data).toMatchObject({ day: 1, messages_per_day: 2 })

  const from = { from_email: 'news@warm.example.com' }
  const marketing = await createFlow(app, { ...from, name: 'News', kind: 'marketing' })
  const transactional = await createFlow(app, { ...from, name: 'Reset' })
  const contacts = ['d1@warmed.test', 'd2@warmed.test', 'd3@warmed.test']
  await (await fill(app)).group('Subscribers', contacts)
  const sending = contacts.map((email) => send(app, marketing, { contact_email: email }))
  const ids = (await Promise.all(sending)).map((answer) => answer.body.data.message_id as string)
  const waiting = await until('one email to wait', async () => {
    const messages = await Promise.all(ids.map((each) => getMessage(app, each)))
    return messages.filter(({ status }) => status === 'sent').length === 2 && messages.find(({ waiting }) => waiting)
  })
  expect(waiting.waiting).toMatchObject({ cause: 'limit', detail: 'daily limit of the warm-up of warm.example.com' })
  const reset = await send(app, transactional, { contact_email: 'd4@warmed.test' })
  await until('the password reset', async () => (await getMessage(app, reset.body.data.message_id)).status === 'sent')
  expect((await app.manage('GET', path)).body.data).toMatchObject({ day: 1, sent_today: 3 })

  // Three days later, it is the second day of the plan.
  await app.db.statement`
    update sending_limit_uses set day = day - 3 where organization_id = ${organizationId} and key like 'plan/%'`
  expect((await app.manage('GET', path)).body.data).toMatchObject({ day: 2, messages_per_day: 50, sent_today: 0 })
  await app.manage('DELETE', path)
  expect((await app.manage('GET', path)).body.data).toBeNull()
})
