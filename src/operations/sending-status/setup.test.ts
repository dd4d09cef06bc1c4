import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createFlow, send } from '../../../test/support/flows.ts'
import { type OtherRecords, startNameServer } from '../../../test/support/name-server.ts'
import { join, registerOther } from '../../../test/support/people.ts'
import { startRelay } from '../../../test/support/relay.ts'
import { create } from '../../../test/support/resources.ts'
import { startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { createService } from '../../service.ts'

type Manage = TestApp['manage']
type Step = { key: string; state: string; message: string; domain_id: string | null; mail_server_id: string | null }

const published = new Map<string, OtherRecords>()
const names = await startNameServer(
  (name) => (published.has(name) ? [] : 'no such name'),
  (name) => published.get(name) ?? {},
)

const setupOf = async (manage: Manage) => {
  const { data } = (await manage('GET', '/organization/sending/setup')).body
  const steps = Object.fromEntries((data.steps as Step[]).map((step) => [step.key, step]))
  const states = Object.fromEntries((data.steps as Step[]).map(({ key, state }) => [key, state]))
  return { ...data, steps, states }
}
const setBaseUrl = (manage: Manage, base_url: string | null) =>
  manage('PATCH', '/organization/sending/setup', { base_url })

const nothing = {
  mail_server: 'todo',
  domain: 'todo',
  default_sender: 'todo',
  base_url: 'todo',
  dns: 'todo',
  bounces: 'todo',
  postal_address: 'todo',
  first_email: 'todo',
}

test('each step of an organization is done by what it sets up in the app, and fails with it', async () => {
  await using relay = await startRelay()
  await using app = await startTestApp({ DNS_SERVERS: names.address })
  const { manage } = app
  expect(await setupOf(manage)).toMatchObject({ ready: false, states: nothing, base_url: { source: 'default' } })

  const server = await create({ manage }, '/mail-servers', { name: 'Main', url: relay.url })
  expect((await setupOf(manage)).steps.mail_server).toMatchObject({ state: 'todo', mail_server_id: server.id })
  await manage('POST', `/organization/mail-servers/${server.id}/test`)
  expect((await setupOf(manage)).steps.mail_server).toMatchObject({ state: 'done', message: 'Emails go through Main.' })

  const domain = await create({ manage }, '/domains', { name: 'acme.example.com' })
  expect((await setupOf(manage)).steps.domain).toMatchObject({ state: 'todo', domain_id: domain.id })
  const publish = async () => {
    const { records } = (await manage('GET', `/organization/domains/${domain.id}`)).body.data
    for (const { name, type, value } of records) if (type === 'TXT') published.set(name, { txt: [value] })
    await manage('POST', `/organization/domains/${domain.id}/verify`)
  }
  await publish()
  const verified = await setupOf(manage)
  expect(verified.states).toEqual({
    ...nothing,
    mail_server: 'done',
    domain: 'done',
    default_sender: 'done',
    dns: 'done',
  })
  expect(verified.default_sender).toEqual({ name: 'Acme', email: 'hello@acme.example.com', is_chosen: true })

  expect(verified.steps.dns!.message).toBe('DKIM and DMARC of acme.example.com are published.')

  expect((await setBaseUrl(manage, 'https://mail.acme.example')).status).toBe(200)
  // The mail server runs on this machine, which others can reach now.
  expect((await setupOf(manage)).steps.dns).toMatchObject({ state: 'todo', message: expect.stringMatching(/^SPF of/) })
  await publish()
  await manage('PATCH', '/organization/brand', { postal_address: '1 Main Street' })
  await manage('POST', '/organization/sending/first-email', {})
  await until('the email', async () => (await setupOf(manage)).states.first_email === 'done')
  const { raw, mail } = relay.mails[0]!
  expect(mail.from).toEqual({ name: 'Acme', address: 'hello@acme.example.com' })
  expect(raw).toMatch(/^DKIM-Signature:.*d=acme\.example\.com/m)
  expect(mail.html).toContain('https://mail.acme.example/t/')
  const complete = await setupOf(manage)
  expect(complete.ready).toBe(true)
  expect(Object.entries(complete.states).filter(([, state]) => state !== 'done')).toEqual([['bounces', 'todo']])

  // The domain is lost, and the mail server stops.
  for (const name of published.keys()) published.delete(name)
  await manage('POST', `/organization/domains/${domain.id}/verify`)
  await app.db.statement`update domains set failing_since = now() - interval '25 hours'`
  await manage('POST', `/organization/domains/${domain.id}/verify`)
  await app.db.statement`update mail_servers set status = 'failing', failure = 'no answer'`
  const failed = await setupOf(manage)
  expect(failed.ready).toBe(false)
  expect(failed.states).toMatchObject({ mail_server: 'failing', domain: 'failing', default_sender: 'failing' })
  expect(failed.steps.mail_server!.message).toContain('Main does not accept email: no answer')
  expect(failed.steps.default_sender!.message).toContain('leave as hello@localhost')
})

test('the environment does the same for an operator, whom alone it names its settings', async () => {
  await using relay = await startRelay()
  await using app = await startTestApp({
    SMTP_URL: relay.url,
    MAIL_FROM: 'Acme <hello@acme.example>',
    BASE_URL: 'https://mail.acme.example',
  })
  const other = await registerOther(app)
  const { steps, base_url } = await setupOf(app.manage)
  expect(steps.mail_server).toMatchObject({ state: 'done', message: expect.stringContaining('SMTP_URL') })
  expect(steps.default_sender).toMatchObject({ state: 'done', message: expect.stringContaining('MAIL_FROM') })
  expect(steps.base_url).toMatchObject({ state: 'done', message: expect.stringContaining('BASE_URL') })
  expect(base_url).toEqual({ url: 'https://mail.acme.example', source: 'environment' })
  for (const manage of [other.manage, (await join(app, 'bob@acme.example', 'member')).manage]) {
    const shown = await setupOf(manage)
    expect(shown.states).toMatchObject({ mail_server: 'done', default_sender: 'done', base_url: 'done' })
    expect(JSON.stringify(shown)).not.toMatch(/SMTP_URL|MAIL_FROM|BASE_URL|BOUNCE_|PROVIDER_/)
  }
  const fixed = await setBaseUrl(app.manage, 'https://other.example')
  expect(fixed.body.error.type).toBe('conflict')
})

test('the public address is set by operators only, by the rules of BASE_URL, and other processes use it', async () => {
  await using relay = await startRelay()
  await using app = await startTestApp({ SMTP_URL: relay.url }, ['serve'])
  const other = await registerOther(app)
  const member = await join(app, 'bob@acme.example', 'member')
  for (const { manage } of [other, member]) expect((await setBaseUrl(manage, 'https://x.example')).status).toBe(403)
  for (const url of ['mail.acme.example', 'ftp://acme.example', 'javascript:alert(1)', 'https://a.example/?q', ''])
    expect((await setBaseUrl(app.manage, url)).body.error.fields[0].path, url).toBe('base_url')

  const secrets = { current: 'a secret that only the tests know, and all of them do', previous: undefined }
  const worker = await createService({
    ...{ config: app.config, secrets, db: app.db, roles: ['work'] },
    log: pino({ level: 'silent' }),
    tuning: { addressCheckMs: 50 },
  })
  await worker.start()
  const flowId = await createFlow(app)
  const linkOf = async () => {
    const before = relay.mails.length
    await send(app, flowId)
    const { mail } = await until('the email', () => relay.mails[before])
    return /href="([^"]+)\/t\/c\//.exec(mail.html!)![1]
  }
  expect(await linkOf()).toBe('http://localhost:0')

  await setBaseUrl(app.manage, 'https://mail.acme.example/post/')
  await until('the worker to use it', async () => (await linkOf()) === 'https://mail.acme.example/post')
  const invited = await app.manage('POST', '/organization/invitations', { email: 'a@acme.example', role: 'member' })
  expect(invited.body.data.url).toMatch(/^https:\/\/mail\.acme\.example\/post\/invitation\//)
  // Requests may have the new prefix, and the page loads its scripts below it.
  const page = await fetch(`${app.url}/post/login`, { headers: { accept: 'text/html' } })
  expect([page.status, page.headers.get('strict-transport-security')]).toEqual([200, 'max-age=31536000'])
  expect((await app.call('GET', '/metrics')).status).toBe(404)

  const unset = await setBaseUrl(app.manage, null)
  expect(unset.body.data.base_url).toEqual({ url: 'http://localhost:0', source: 'default' })
  await worker.stop()
})
