import { Writable } from 'node:stream'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { startRawSmtp } from '../../../test/support/raw-smtp.ts'
import { startRelay } from '../../../test/support/relay.ts'
import { startSharedApp, type TestApp } from '../../../test/support/test-app.ts'
import { countSealed, reseal } from '../../platform/db/sealed.ts'
import { parseId } from '../../platform/values/ids.ts'
import { mailServerBox, mailServerCredentials, openCredentials } from './credentials.ts'
import { findMailServer } from './mail-servers.sql.ts'
import { presets } from './preset-list.ts'
import { targetOf } from './settings.ts'

const logged: string[] = []
const log = pino(
  { level: 'trace' },
  new Writable({
    write(line: Buffer, _encoding, done) {
      logged.push(line.toString())
      done()
    },
  }),
)
const newApp = await startSharedApp({}, ['serve'], { log })

const call = (app: TestApp, method: string, path = '', body?: object) =>
  app.manage(method, `/organization/mail-servers${path}`, body)

async function add(app: TestApp, body: object) {
  const answer = await call(app, 'POST', '', { name: 'Main', ...body })
  expect(answer.status, answer.text).toBe(201)
  return answer.body.data
}

const stored = async (app: TestApp, id: string) =>
  (await findMailServer(app.db, parseId('org', app.organizationId)!, parseId('mse', id)!))!

const oauth = { client_id: 'client', client_secret: 'the-client-secret', refresh_token: 'the-refresh-token' }

test('a mail server is added by its URL, listed by priority, changed and deleted', async () => {
  const app = await newApp()
  const first = await add(app, { url: 'smtp://ada:s%2Fecret@Smtp.Example.com:2525?name=mail.example.com' })
  expect(first).toMatchObject({
    ...{ name: 'Main', host: 'smtp.example.com', port: 2525, security: 'starttls', username: 'ada', auth: 'password' },
    ...{ kinds: ['transactional', 'marketing'], from_domains: [], priority: 10, weight: 100, connections: 5 },
    ...{ messages_per_second: null, messages_per_day: null, preset: null, status: 'untested', failure: null },
  })
  const routing = { priority: 1, kinds: ['marketing'], from_domains: ['Bücher.example'], weight: 3, connections: 2 }
  const limits = { messages_per_second: 0.5, messages_per_day: 500 }
  const second = await add(app, { url: 'smtps://10.0.0.1', ...routing, ...limits })
  expect(second).toMatchObject({
    ...{ ...routing, ...limits, from_domains: ['xn--bcher-kva.example'] },
    ...{ port: 465, security: 'tls', username: null, auth: 'none' },
  })
  expect((await call(app, 'GET')).body.data.map(({ id }: { id: string }) => id)).toEqual([second.id, first.id])
  const changed = await call(app, 'PATCH', `/${first.id}`, { name: 'Other', messages_per_day: 10 })
  expect(changed.body.data).toMatchObject({ name: 'Other', messages_per_day: 10, username: 'ada', port: 2525 })
  expect(openCredentials(mailServerBox(app.secrets), await stored(app, first.id))).toEqual({
    url: 'smtp://ada:s%2Fecret@smtp.example.com:2525?tls=required&name=mail.example.com',
    oauth: null,
  })
  expect((await call(app, 'DELETE', `/${first.id}`)).status).toBe(200)
  expect((await call(app, 'GET', `/${first.id}`)).status).toBe(404)
})

test('a preset needs only the credentials', async () => {
  const app = await newApp()
  expect(await add(app, { preset: 'sendgrid', password: 'SG.key' })).toMatchObject({
    ...{ preset: 'sendgrid', host: 'smtp.sendgrid.net', port: 587, security: 'starttls', username: 'apikey' },
  })
  const host = 'email-smtp.eu-west-1.amazonaws.com'
  expect(await add(app, { preset: 'amazon_ses', host, username: 'AKIA', password: 'p' })).toMatchObject({ host })
  const microsoft = await add(app, { preset: 'microsoft_365', username: 'ada@example.com', oauth })
  expect(microsoft).toMatchObject({ auth: 'oauth2', username: 'ada@example.com', host: 'smtp.office365.com' })
  expect(openCredentials(mailServerBox(app.secrets), await stored(app, microsoft.id))).toEqual({
    url: 'smtp://smtp.office365.com:587?tls=required',
    oauth: {
      ...{ user: 'ada@example.com', clientId: 'client', clientSecret: 'the-client-secret' },
      ...{ refreshToken: 'the-refresh-token', scope: 'https://outlook.office.com/SMTP.Send offline_access' },
      tokenUrl: 'https://login.microsoftonline.com/organizations/oauth2/v2.0/token',
    },
  })
  const byPassword = await call(app, 'PATCH', `/${microsoft.id}`, { password: 'app password' })
  expect(byPassword.body.data).toMatchObject({ auth: 'password', username: 'ada@example.com' })
  const without = await call(app, 'PATCH', `/${microsoft.id}`, { username: null })
  expect(without.body.data).toMatchObject({ auth: 'none', username: null })
})

test('stored credentials are not sent to another host or with less encryption', async () => {
  const app = await newApp()
  const { id } = await add(app, { host: 'smtp.example.com', username: 'ada', password: 'secret-1' })
  for (const change of [{ host: 'evil.example.com' }, { port: 2525 }, { security: 'none' }, { preset: 'brevo' }]) {
    const answer = await call(app, 'PATCH', `/${id}`, change)
    expect([answer.status, answer.body.error?.fields?.[0]?.path]).toEqual([422, 'password'])
  }
  const moved = { host: 'evil.example.com', password: 'another' }
  expect((await call(app, 'PATCH', `/${id}`, moved)).body.data).toMatchObject({ host: 'evil.example.com' })
  expect((await call(app, 'PATCH', `/${id}`, { username: null, host: 'smtp.example.com' })).status).toBe(200)

  const { id: byToken } = await add(app, { preset: 'google', username: 'ada@example.com', oauth })
  const answer = await call(app, 'PATCH', `/${byToken}`, { url: 'smtps://evil.example.com', username: 'ada' })
  expect([answer.status, answer.body.error?.fields?.[0]?.path]).toEqual([422, 'oauth'])
})

test('passwords and tokens are in no response and no log', async () => {
  const app = await newApp()
  const secrets = ['secret-word', 'the-client-secret', 'the-refresh-token']
  const texts: string[] = []
  const note = async (method: string, path: string, body?: object) => {
    const answer = await call(app, method, path, body)
    texts.push(answer.text)
    return answer.body.data
  }
  const bodies = [
    { name: 'Main', url: 'smtp://ada:secret-word@smtp.example.com' },
    { name: 'Main', host: 'smtp.example.com', username: 'ada', password: 'secret-word' },
    { name: 'Main', preset: 'google', username: 'ada', oauth },
  ]
  for (const body of bodies) {
    const { id } = await note('POST', '', body)
    await note('PATCH', `/${id}`, { name: 'Renamed' })
    await note('PATCH', `/${id}`, { port: 99_999 })
    await note('GET', `/${id}`)
    await note('DELETE', `/${id}`)
  }
  await note('POST', '', { name: 'Main', url: 'smtp://ada:secret-word@smtp.example.com/path' })
  await note('POST', '', { name: 'Main', url: 'http://ada:secret-word@smtp.example.com' })
  await note('POST', '', { name: 'Main', preset: 'google', username: 'ada', oauth, password: 'secret-word' })
  await note('GET', '')
  expect(logged.length).toBeGreaterThan(0)
  for (const secret of secrets) expect(`${texts.join('')}${logged.join('')}`).not.toContain(secret)
  const { url } = await stored(app, (await add(app, bodies[0]!)).id)
  expect(url.toString('latin1')).not.toContain('secret-word')
})

test('an organization has at most 20 mail servers', async () => {
  const app = await newApp()
  for (let i = 0; i < 20; i++) await add(app, { url: 'smtp://smtp.example.com' })
  expect((await call(app, 'POST', '', { name: 'Main', url: 'smtp://smtp.example.com' })).status).toBe(409)
})

test('only public hosts and the ports of mail submission are allowed', () => {
  const problemOf = (url: string) => {
    try {
      targetOf({ url }, undefined, { allowPrivate: false })
      return 'none'
    } catch (error) {
      return (error as Error).message
    }
  }
  expect(problemOf('smtp://smtp.example.com:2525')).toBe('none')
  const hosts = ['127.0.0.1', '[::1]', 'localhost', '10.1.2.3', '2130706433', '0x7f.1', 'postfix', 'mail.internal']
  for (const host of hosts)
    expect([host, problemOf(`smtp://${host}:25`)]).toEqual([host, expect.stringContaining('url')])
  expect(problemOf('smtp://smtp.example.com:22')).toBe('url: must use port 25, 465, 587, 2465, 2525, or 2587.')
  expect(() => targetOf({ host: 'smtp.example.com', port: 22 }, undefined, { allowPrivate: false })).toThrow(/^port: /)
  const odd = { host: 'smtp.example.com', username: 'ada', password: '\ud800' }
  expect(() => targetOf(odd, undefined, { allowPrivate: false })).toThrow(/^password: /)
  expect(() => targetOf({ host: 'a b' }, undefined, { allowPrivate: false })).toThrow(/^host: must be a host name/)
  expect(() => targetOf({ host: 'a:b' }, undefined, { allowPrivate: false })).toThrow(/^host: must be a host name/)
  const client = { ...oauth, token_url: 'https://169.254.169.254/token' }
  expect(() =>
    targetOf({ url: 'smtp://smtp.example.com', username: 'ada', oauth: client }, undefined, { allowPrivate: false }),
  ).toThrow(/^oauth.token_url: must be reachable from the internet/)
  // Every preset would be accepted.
  for (const { id, hosts: known } of presets)
    for (const { host } of known)
      targetOf({ preset: id, host, username: 'ada', password: 'p' }, undefined, { allowPrivate: false })
})

test('credentials are encrypted again after APP_SECRET has changed', async () => {
  const app = await newApp()
  const { id } = await add(app, { preset: 'google', username: 'ada', oauth })
  const { current } = app.secrets
  const rotated = { current: 'another secret that is long enough', previous: current }
  const count = () => countSealed(app.db, rotated, mailServerCredentials)
  const before = await count()
  expect(before.dependent).toBeGreaterThan(0)
  await reseal(app.db, rotated, mailServerCredentials)
  expect(await count()).toMatchObject({ dependent: 0, undecryptable: 0 })
  const without = mailServerBox({ current: 'another secret that is long enough', previous: undefined })
  expect(openCredentials(without, await stored(app, id))).toMatchObject({ oauth: { clientId: 'client' } })
  await reseal(app.db, { current, previous: 'another secret that is long enough' }, mailServerCredentials)
})

test('a mail server that was tested with the same settings counts as tested when it is added', async () => {
  await using relay = await startRelay()
  const [app, other] = [await newApp(), await newApp()]
  const test = async (body: object) => (await call(app, 'POST', '/test', body)).body.data
  const settings = { host: '127.0.0.1', port: relay.port, security: 'none', username: null }
  const { ok, test_token } = await test(settings)
  expect([ok, test_token]).toEqual([true, expect.any(String)])
  const added = await add(app, { ...settings, test_token })
  expect(added).toMatchObject({ status: 'working', tested_at: expect.any(String) })
  expect(Date.now() - Date.parse(added.tested_at)).toBeLessThan(60_000)

  const untested = { status: 'untested', tested_at: null }
  expect(await add(app, settings)).toMatchObject(untested)
  expect(await add(app, { ...settings, test_token: 'made up' })).toMatchObject(untested)
  expect(await add(app, { ...settings, port: 2525, test_token })).toMatchObject(untested)
  expect(await add(app, { ...settings, username: 'ada', password: 'p', test_token })).toMatchObject(untested)
  expect(await add(other, { ...settings, test_token })).toMatchObject(untested)
  await relay.stop()
  expect(await test(settings)).toMatchObject({ ok: false, test_token: null })
})

test('a token that is both the user name and the password is entered once, and never shown', async () => {
  await using smtp = await startRawSmtp({
    extensions: ['AUTH PLAIN'],
    answer: ({ verb }) => (verb === 'AUTH' ? '235 2.7.0 Ok' : undefined),
  })
  const app = await newApp()
  const server = await add(app, { preset: 'postmark', password: 'the-token' })
  expect(server).toMatchObject({ auth: 'password', username: null, host: 'smtp.postmarkapp.com' })
  const urlOf = async () => openCredentials(mailServerBox(app.secrets), await stored(app, server.id))!.url
  expect(await urlOf()).toContain('the-token:the-token@')
  const replaced = await call(app, 'PATCH', `/${server.id}`, { password: 'another' })
  expect([replaced.body.data.username, await urlOf()]).toEqual([null, expect.stringContaining('another:another@')])
  await call(app, 'PATCH', `/${server.id}`, { name: 'Renamed' })
  expect(await urlOf()).toContain('another:another@')
  const tested = await call(app, 'POST', '/test', {
    ...{ preset: 'postmark', host: '127.0.0.1', port: smtp.port, security: 'none' },
    password: 'the-token',
  })
  expect(tested.body.data.ok).toBe(true)
  const listed = await call(app, 'GET')
  expect(tested.text + listed.text + replaced.text).not.toMatch(/the-token|another/)
})
