import { expect, test } from 'vitest'
import { addMailServer } from '../../../test/support/mail-servers.ts'
import { startNameServer } from '../../../test/support/name-server.ts'
import { join, registerOther } from '../../../test/support/people.ts'
import { startRelay } from '../../../test/support/relay.ts'
import { freePort } from '../../../test/support/service.ts'
import { startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'

async function send(app: TestApp): Promise<void> {
  const flow = await app.manage('POST', '/organization/flows', {
    name: 'Hello',
    kind: 'transactional',
    subject: 'Hello',
    html: '<p>Hello</p>',
  })
  const body = { flow_id: flow.body.data.id, contact_email: 'ada@example.com' }
  await app.publicApi('POST', '/flow/send-email-through-flow', body)
}

const sending = async (app: TestApp) => (await app.manage('GET', '/organization/sending')).body.data

test('without a relay emails go to the inbox, and no records are needed', async () => {
  await using app = await startTestApp()
  expect(await sending(app)).toEqual({
    details: true,
    transport: 'inbox',
    relay: null,
    mail_from: 'hello@localhost',
    mail_servers: [],
    state: 'ok',
    last_error: null,
    next_attempt_at: null,
    paused_since: null,
    last_sent_at: null,
    queued: 0,
    dkim: null,
    bounce_domain: null,
    sender_domains: null,
    bounce_providers: [],
    submission: null,
    records: [],
    checked_at: null,
  })
  await send(app)
  await until('the mail to be sent', async () => (await sending(app)).last_sent_at)
})

test('the status is that of the mail servers of the organization, and the first email goes through them', async () => {
  await using relay = await startRelay()
  await using app = await startTestApp({ REQUIRE_VERIFIED_DOMAINS: 'true', ALLOWED_SENDER_DOMAINS: 'acme.example' })
  const port = await freePort()
  const failing = await addMailServer(app, { name: 'Old', url: `smtp://127.0.0.1:${port}`, priority: 1 })
  await app.manage('POST', `/organization/mail-servers/${failing}/test`)
  const last_error = expect.stringMatching(/^Old: .*refused/)
  const sender_domains = ['acme.example']
  expect(await sending(app)).toMatchObject({ transport: 'smtp', state: 'failing', last_error, sender_domains })
  await addMailServer(app, { name: 'New', url: relay.url, priority: 2 })
  const firstEmail = (from: string) => app.manage('POST', '/organization/sending/first-email', { from })
  expect((await firstEmail('hello@other.example')).status).toBe(422)
  expect((await firstEmail('hello@acme.example')).status).toBe(202)
  const received = await until('the email', () => relay.mails[0])
  expect(received.mail.from?.address).toBe('hello@acme.example')
  await until('its state', async () => (await sending(app)).state === 'ok')
  expect((await sending(app)).mail_servers).toMatchObject([
    { id: failing, name: 'Old', status: 'failing' },
    { name: 'New', status: 'working' },
  ])
})

test('the status shows how bounces are received', async () => {
  const environment = {
    BOUNCE_DOMAIN: 'bounce.acme.example',
    BOUNCE_SMTP_PORT: '0',
    PROVIDER_SES_TOPICS: 'arn:aws:sns:eu-west-1:123456789012:bounces',
    PROVIDER_POSTMARK_TOKEN: 'a token',
  }
  await using app = await startTestApp(environment, ['serve'])
  expect(await sending(app)).toMatchObject({
    bounce_domain: 'bounce.acme.example',
    bounce_providers: ['Amazon SES', 'Postmark'],
  })
})

test('the status shows how programs send by SMTP', async () => {
  await using app = await startTestApp({ SUBMISSION_PORT: '0' }, ['serve'])
  const submission = { host: '127.0.0.1', port: 0, tls_port: null, encrypted: false }
  expect(await sending(app)).toMatchObject({ submission })
})

test('a check tests the relay and the DNS records, and its result is stored', async () => {
  await using relay = await startRelay()
  const zone: Record<string, string[]> = { '_dmarc.acme.example': ['v=DMARC1; p=none'] }
  await using names = await startNameServer(
    () => [],
    (name) => ({ txt: zone[name] ?? [] }),
  )
  const environment = {
    SMTP_URL: relay.url,
    MAIL_FROM: 'Acme <hello@acme.example>',
    BASE_URL: 'https://mail.acme.example',
  }
  await using app = await startTestApp({ ...environment, DNS_SERVERS: names.address }, ['serve'])
  const before = await sending(app)
  expect(before).toMatchObject({
    transport: 'smtp',
    relay: { host: '127.0.0.1', port: relay.port, secure: false, user: null },
    mail_from: 'Acme <hello@acme.example>',
    state: 'unknown',
    checked_at: null,
  })
  expect(before.records.map((record: { status: string }) => record.status)).toEqual(['unchecked', 'unchecked'])

  const checked = await app.manage('POST', '/organization/sending/check', {})

  expect(checked.body.data).toMatchObject({
    state: 'ok',
    checked_at: expect.any(String),
    records: [
      { purpose: 'SPF', name: 'acme.example', value: 'v=spf1 a:mail.acme.example ~all', status: 'missing' },
      { purpose: 'DMARC', name: '_dmarc.acme.example', status: 'found', found: 'v=DMARC1; p=none' },
    ],
  })
  const another = await join(app, 'second@acme.example', 'owner')
  expect((await another.manage('GET', '/organization/sending')).body.data).toEqual(checked.body.data)
})

test('a relay that is down is reported with its reason, and emails of other organizations are not counted', async () => {
  await using app = await startTestApp({ SMTP_URL: `smtp://127.0.0.1:${await freePort()}` })
  const other = await registerOther(app)
  await send(app)

  const checked = await app.manage('POST', '/organization/sending/check')

  expect(checked.body.data).toMatchObject({ state: 'failing', queued: 1, last_sent_at: null })
  expect(checked.body.data.last_error).toMatch(/refused/i)
  expect(Date.parse(checked.body.data.next_attempt_at)).toBeGreaterThan(Date.now() - 60_000)
  expect((await other.manage('GET', '/organization/sending')).body.data.queued).toBe(0)
})

test('emails that no process sends are reported, also by a process that does not send', async () => {
  await using relay = await startRelay()
  await using app = await startTestApp({ SMTP_URL: relay.url }, ['serve'])
  await send(app)
  expect(await sending(app)).toMatchObject({ state: 'unknown', queued: 1 })
  await app.db.statement`update jobs set due_at = now() - interval '3 minutes'`
  expect(await sending(app)).toMatchObject({
    state: 'failing',
    last_error: expect.stringContaining('none are being sent'),
  })
  expect((await app.call('GET', '/metrics')).text).not.toContain('waxwing_relay_up')
})

test('the relay password is never returned', async () => {
  const environment = { SMTP_URL: 'smtps://someone:secret-password@relay.acme.example' }
  await using app = await startTestApp(environment, ['serve'])
  const answer = await app.manage('GET', '/organization/sending')
  expect(answer.body.data.relay).toEqual({ host: 'relay.acme.example', port: 465, secure: true, user: 'someone' })
  expect(answer.text).not.toContain('secret-password')
})

test('only owners of the first organization see details of the relay; others see whether it works', async () => {
  const environment = {
    SMTP_URL: `smtp://relay-user:relay-password@127.0.0.1:${await freePort()}`,
    MAIL_FROM: 'hello@acme.example',
  }
  await using app = await startTestApp(environment, ['serve'])
  const other = await registerOther(app)
  const member = await join(app, 'bob@acme.example', 'member')
  await app.manage('POST', '/organization/sending/check')
  expect(await sending(app)).toMatchObject({ details: true, relay: { user: 'relay-user' }, state: 'failing' })
  for (const person of [other, member]) {
    const answer = await person.manage('GET', '/organization/sending')
    expect(answer.body.data).toMatchObject({
      details: false,
      transport: 'smtp',
      relay: null,
      state: 'failing',
      last_error: null,
      records: [],
    })
    expect(answer.text).not.toMatch(/relay-user|127\.0\.0\.1|refused/i)
    expect((await person.manage('POST', '/organization/sending/check')).status).toBe(403)
    expect((await person.manage('GET', '/me')).body.data.operator).toBe(false)
  }
  expect((await app.manage('GET', '/me')).body.data.operator).toBe(true)
})
