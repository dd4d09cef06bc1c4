import { expect, test } from 'vitest'
import { accountEmailTo, tokenIn } from '../../../test/support/account-email.ts'
import { join, password } from '../../../test/support/people.ts'
import { startRelay } from '../../../test/support/relay.ts'
import { startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { SecretBox } from '../../platform/secrets/secrets.ts'
import { queueOldEmails } from '../../sending/system-emails/old-emails.ts'

const newPassword = 'another horse battery'
const baseUrl = 'https://mail.acme.example'

const post = (app: TestApp, path: string, body: object, headers = {}) =>
  app.call('POST', `/api/v1/auth${path}`, { body, headers })
const forgot = (app: TestApp, email: string, headers = {}) => post(app, '/forgot-password', { email }, headers)
const reset = (app: TestApp, token: string, to = newPassword) => post(app, '/reset-password', { token, password: to })
const login = (app: TestApp, email: string, given: string) => post(app, '/login', { email, password: given })
const handled = (app: TestApp) =>
  until('the requests to be handled', async () => (await app.db`select from password_reset_requests`).length === 0)

const sealed = ({ secrets }: TestApp) =>
  new SecretBox(secrets, 'account email').seal(JSON.stringify({ kind: 'password_changed' }))
const queued = (app: TestApp) => app.db`select from jobs where kind = 'account.email'`
async function makeDue(app: TestApp): Promise<void> {
  await app.db.statement`update jobs set due_at = now() where kind = 'account.email'`
  await app.db.statement`update lanes set next_due_at = now() where kind = 'account.email'`
}

test('the link in the email sets a new password once, ends all sessions, and signs in', async () => {
  await using app = await startTestApp({ BASE_URL: baseUrl })
  const bob = await join(app, 'Bob@acme.example', 'member')
  // The link is built from BASE_URL, whatever host the request names.
  expect((await forgot(app, 'bob@ACME.example', { 'x-forwarded-host': 'evil.example' })).status).toBe(200)
  const { link, text, html } = await accountEmailTo(app, 'Bob@acme.example', /^Reset your Waxwing password$/)
  expect(link).toMatch(/^https:\/\/mail\.acme\.example\/reset-password#rst_[0-9a-z]{26}[\w-]{43}$/)
  expect(html).toContain(link)
  expect(text).toContain('valid for 30 minutes')
  const token = tokenIn(link)
  const [row] = await app.db<{ text: string }>`select to_jsonb(password_resets)::text as text from password_resets`
  expect(row!.text).not.toContain(token.slice(-43))

  const checked = await post(app, '/check-password-reset', { token })
  expect(checked.body.data.email).toBe('Bob@acme.example')
  expect(Date.parse(checked.body.data.expires_at) - Date.now()).toBeLessThanOrEqual(30 * 60_000)
  const weak = await reset(app, token, 'short')
  expect(weak.body.error.fields[0].path).toBe('password')
  const done = await reset(app, token)

  expect(done.status).toBe(200)
  const headers = { authorization: `Bearer ${done.body.data.token}` }
  expect((await app.call('GET', '/api/v1/me', { headers })).body.data.user.email).toBe('Bob@acme.example')
  expect((await bob.manage('GET', '/me')).status).toBe(401)
  expect((await login(app, bob.email, password)).status).toBe(401)
  expect((await login(app, bob.email, newPassword)).status).toBe(200)
  expect((await app.manage('GET', '/me')).status).toBe(200)
  for (const answer of [
    await reset(app, token, 'third horse battery'),
    await post(app, '/check-password-reset', { token }),
  ])
    expect(answer.status).toBe(404)
  expect((await accountEmailTo(app, 'Bob@acme.example', /password was changed/)).text).not.toContain(token)
})

test('addresses with and without an account get the same response, and only accounts get an email', async () => {
  await using app = await startTestApp()
  const answers = [await forgot(app, 'owner@acme.example'), await forgot(app, 'nobody@acme.example')]
  const [known, unknown] = answers.map(({ status, text }) => ({ status, text }))
  expect(known).toEqual(unknown)
  await handled(app)
  await accountEmailTo(app, 'owner@acme.example', /^Reset/)
  const inbox = (await app.manage('GET', '/organization/inbox')).body.data
  expect(inbox.map(({ to }: { to: string }) => to)).toEqual(['owner@acme.example'])
  expect((await forgot(app, 'not an address')).status).toBe(422)
})

test('a link dies with the first use of another one, with a changed password, and after 30 minutes', async () => {
  await using app = await startTestApp()
  const bob = await join(app, 'bob@acme.example', 'member')
  const seen = new Set<string>()
  const nextToken = async () => {
    await forgot(app, bob.email)
    const mail = await accountEmailTo(app, bob.email, /^Reset/, ({ id }) => !seen.has(id))
    seen.add(mail.id)
    return tokenIn(mail.link)
  }
  const [first, second] = [await nextToken(), await nextToken()]
  expect((await reset(app, second)).status).toBe(200)
  expect((await reset(app, first)).status).toBe(404)

  const third = await nextToken()
  await app.db.statement`update password_resets set expires_at = now()`
  expect((await reset(app, third)).status).toBe(404)
})

test('changing the password in the profile makes reset links invalid', async () => {
  await using app = await startTestApp()
  await forgot(app, 'owner@acme.example')
  const token = tokenIn((await accountEmailTo(app, 'owner@acme.example', /^Reset/)).link)
  const change = { current_password: password, new_password: newPassword }
  expect((await app.manage('POST', '/me/password', change)).status).toBe(200)
  expect((await reset(app, token)).status).toBe(404)
})

test('a link can be used once, even by concurrent requests', async () => {
  await using app = await startTestApp()
  await forgot(app, 'owner@acme.example')
  const token = tokenIn((await accountEmailTo(app, 'owner@acme.example', /^Reset/)).link)
  const answers = await Promise.all([1, 2, 3].map((number) => reset(app, token, `${newPassword} ${number}`)))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404])
})

test('requests are limited by email address, and further links of an account are not created', async () => {
  await using app = await startTestApp()
  const statuses = []
  for (let count = 0; count < 4; count++) statuses.push((await forgot(app, 'owner@acme.example')).status)
  for (let count = 0; count < 4; count++) statuses.push((await forgot(app, 'nobody@acme.example')).status)
  expect(statuses).toEqual([200, 200, 200, 429, 200, 200, 200, 429])
  await handled(app)
  // As if another process had accepted more requests.
  await app.db.statement`
    insert into password_reset_requests (id, email_key) values (gen_random_uuid(), 'owner@acme.example')`
  await handled(app)
  expect(await app.db`select from password_resets`).toHaveLength(3)
})

test('requests are limited by client address', async () => {
  await using app = await startTestApp({ TRUST_PROXY: 'true' }, ['serve'])
  const from = (address: string, count: number) =>
    forgot(app, `person${count}@acme.example`, { 'x-forwarded-for': address })
  const answers = []
  for (let count = 0; count < 21; count++) answers.push((await from('203.0.113.7', count)).status)
  expect(answers).toEqual([...Array(20).fill(200), 429])
  expect((await from('203.0.113.8', 1)).status).toBe(200)
})

test('in the built-in inbox only owners see account emails', async () => {
  await using app = await startTestApp()
  const eve = await join(app, 'eve@acme.example', 'member')
  await forgot(app, 'owner@acme.example')
  const { id } = await accountEmailTo(app, 'owner@acme.example', /^Reset/)
  expect((await eve.manage('GET', '/organization/inbox')).body.data).toEqual([])
  expect((await eve.manage('GET', `/organization/inbox/${id}`)).status).toBe(404)
  expect((await eve.manage('DELETE', '/organization/inbox')).body.data.deleted).toBe(0)
  expect((await app.manage('GET', `/organization/inbox/${id}`)).status).toBe(200)
})

test('through a relay, an account email is marked, small and not tracked, and is sent again if the relay defers it', async () => {
  await using relay = await startRelay()
  relay.onSender = () => ({ code: 451, text: '4.3.0 later' })
  await using app = await startTestApp({
    SMTP_URL: relay.url,
    BASE_URL: baseUrl,
    MAIL_FROM: 'Acme <hello@acme.example>',
  })
  await forgot(app, 'owner@acme.example')
  const deferred = await until('the first attempt', async () => {
    const [row] = await app.db<{ payload: { content: string } }>`
      select payload from jobs where kind = 'account.email' and attempt > 0`
    return row
  })
  expect(Buffer.from(deferred.payload.content, 'base64').toString('latin1')).not.toMatch(/rst_|token/)
  expect(JSON.stringify(deferred.payload)).not.toMatch(/rst_|token/)
  relay.onSender = () => undefined
  await makeDue(app)
  const received = await until('the email', async () => relay.mails[0])

  expect(received).toMatchObject({ sender: 'hello@acme.example', recipient: 'owner@acme.example' })
  expect(received.raw.length).toBeLessThan(20_000)
  const headers = new Map(received.mail.headers.map(({ key, value }) => [key, value]))
  expect(headers.get('x-waxwing-mail')).toBe('account')
  expect(headers.get('auto-submitted')).toBe('auto-generated')
  expect(received.mail.html).not.toMatch(/<img|\/t\/[oc]\//)
  expect(received.mail.html).toContain(`${baseUrl}/reset-password#rst_`)
  await until('the row to be deleted', async () => (await queued(app)).length === 0)
  expect(await app.db`select from messages`).toEqual([])
  expect(await app.db`select from event_counters`).toEqual([])
})

test('account emails that have expired do not delay others, and are deleted', async () => {
  await using app = await startTestApp()
  const [organization] = await app.db<{ id: string }>`select id from organizations`
  const times = { createdAt: Date.now() - 120_000, expiresAt: Date.now() - 60_000 }
  const expired = { recipient: 'late@acme.example', content: sealed(app).toString('base64'), ...times }
  await app.db.statement`
    insert into jobs (organization_id, kind, lane, id, payload, due_at)
    select ${organization!.id}, 'account.email', 'users', gen_random_uuid(), ${JSON.stringify(expired)}::jsonb,
      now() - interval '1 hour'
    from generate_series(1, 120)`
  await forgot(app, 'owner@acme.example')
  await accountEmailTo(app, 'owner@acme.example', /^Reset/)
  await until('the rows to be deleted', async () => (await queued(app)).length === 0)
  expect(await app.db`select from inbox where recipient = 'late@acme.example'`).toEqual([])
})

test('an account email is sent once if the relay takes long to reply', async () => {
  await using relay = await startRelay()
  let reply: (() => void) | undefined
  relay.onData = () => new Promise((resolve) => (reply = () => resolve(undefined)))
  await using app = await startTestApp({ SMTP_URL: relay.url, BASE_URL: baseUrl })
  await forgot(app, 'owner@acme.example')
  await until('the relay to have the email', () => reply)
  // No process tries it again while the relay may still accept it.
  const leasedUntil = async () => {
    const [lane] = await app.db<{ leasedUntil: Date }>`select leased_until from lanes where kind = 'account.email'`
    return lane!.leasedUntil
  }
  const first = await leasedUntil()
  await until('the lease to be extended', async () => (await leasedUntil()) > first)
  reply!()
  await until('the row to be deleted', async () => (await queued(app)).length === 0)
  expect(relay.mails).toHaveLength(1)
})

test('account emails that a process of 0.1.0 has stored and not sent are sent', async () => {
  await using app = await startTestApp()
  await app.db.statement`
    insert into account_mails (organization_id, id, recipient, content, expires_at, next_try_at)
    select organizations.id, gen_random_uuid(), email.name || '@acme.example', ${sealed(app)}, now() + interval '1 hour', next_try_at
    from organizations, (values ('due', now()), ('claimed', now() + interval '1 minute')) as email (name, next_try_at)`
  await queueOldEmails(app.db)
  await accountEmailTo(app, 'due@acme.example', /password was changed/)
  expect(await app.db`select recipient from account_mails`).toEqual([{ recipient: 'claimed@acme.example' }])
})
