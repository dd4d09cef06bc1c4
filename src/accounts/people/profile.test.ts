import { expect, test } from 'vitest'
import { accountEmailTo, tokenIn } from '../../../test/support/account-email.ts'
import { join, password, registerOther } from '../../../test/support/people.ts'
import { startSharedApp, startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { newId, parseId } from '../../platform/values/ids.ts'
import { deviceName } from './device-name.ts'

const newOrganization = await startSharedApp()

const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0'
const safari =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1'

async function login(app: TestApp, email: string, userAgent: string) {
  const headers = { 'user-agent': userAgent }
  const { body } = await app.call('POST', '/api/v1/auth/login', { body: { email, password }, headers })
  const manage = (method: string, path: string) =>
    app.call(method, `/api/v1${path}`, { headers: { authorization: `Bearer ${body.data.token}` } })
  return { manage }
}

const post = (app: TestApp, path: string, body: object) => app.call('POST', `/api/v1/auth${path}`, { body })

test('the name and the alert switches are stored, and omitted ones keep their value', async () => {
  const app = await newOrganization()
  expect((await app.manage('GET', '/me')).body.data).toMatchObject({
    user: { name: null },
    alerts: { sending: true, deliverability: true, webhooks: true, imports: true },
    pending_email: null,
  })
  await app.manage('PATCH', '/me', { name: '  Ada Lovelace ', alerts: { imports: false } })
  const changed = await app.manage('PATCH', '/me', { alerts: { webhooks: false } })
  expect(changed.body.data).toEqual((await app.manage('GET', '/me')).body.data)
  expect(changed.body.data).toMatchObject({
    user: { name: 'Ada Lovelace' },
    alerts: { sending: true, deliverability: true, webhooks: false, imports: false },
  })
  expect((await app.manage('GET', '/organization/members')).body.data[0].name).toBe('Ada Lovelace')
  expect((await app.manage('PATCH', '/me', { name: ' ' })).body.data.user.name).toBeNull()
  expect((await app.manage('PATCH', '/me', { name: 'x'.repeat(201) })).status).toBe(422)
})

test('sessions are listed with their device, and each can be ended or expires', async () => {
  const app = await newOrganization()
  const bob = await join(app, 'bob@acme.example', 'member')
  const [laptop, phone] = [await login(app, bob.email, firefox), await login(app, bob.email, safari)]
  await app.db.statement`update sessions set last_used_at = now() - interval '1 hour'`

  const listed = (await laptop.manage('GET', '/me/sessions')).body.data
  expect(listed.map(({ device, current }: { device: string; current: boolean }) => [device, current])).toEqual([
    ['Firefox on Linux', true],
    ['Safari on iOS', false],
    ['node', false],
  ])
  const ageMs = ({ last_used_at }: { last_used_at: string }) => Date.now() - Date.parse(last_used_at)
  expect(ageMs(listed[0])).toBeLessThan(60_000)
  expect(ageMs(listed[1])).toBeGreaterThan(3_000_000)
  expect(listed[1].ip_address).toBe('127.0.0.1')
  // Not stored for each request.
  expect((await laptop.manage('GET', '/me/sessions')).body.data).toEqual(listed)

  const ended = `/me/sessions/${listed[1].id}`
  expect((await app.manage('DELETE', ended)).status).toBe(404)
  expect((await laptop.manage('DELETE', ended)).status).toBe(200)
  expect((await phone.manage('GET', '/me')).status).toBe(401)
  const expire = (when: Date) =>
    app.db.statement`update sessions set expires_at = ${when} where id = ${parseId('ses', listed[2].id)}`
  await expire(new Date())
  expect((await bob.manage('GET', '/me')).status).toBe(401)
  expect((await laptop.manage('GET', '/me/sessions')).body.data).toHaveLength(1)
  await expire(new Date(Date.now() + 60_000))
  expect((await laptop.manage('POST', '/me/sign-out')).status).toBe(200)
  expect([(await laptop.manage('GET', '/me')).status, (await bob.manage('GET', '/me')).status]).toEqual([401, 200])
})

test('a changed password ends the other sessions, and so does the end of the membership', async () => {
  const app = await newOrganization()
  const bob = await join(app, 'bob@acme.example', 'member')
  const other = await login(app, bob.email, firefox)
  const change = { current_password: password, new_password: 'another horse battery' }
  expect((await bob.manage('POST', '/me/password', { ...change, current_password: 'wrong' })).status).toBe(422)
  expect((await bob.manage('POST', '/me/password', change)).status).toBe(200)
  expect((await other.manage('GET', '/me')).status).toBe(401)
  expect(await app.db`select from sessions where user_id = ${parseId('usr', bob.id)!}`).toHaveLength(1)
  await app.manage('DELETE', `/organization/members/${bob.id}`)
  const organizationId = parseId('org', app.organizationId)!
  expect(await app.db`select from sessions where organization_id = ${organizationId}`).toHaveLength(1)
})

test('a user has a limited number of sessions; the oldest ends first', async () => {
  const app = await newOrganization()
  const organizationId = parseId('org', app.organizationId)!
  const colleague = newId('usr')
  await app.db.statement`
    insert into sessions (organization_id, user_id, id, user_agent, ip_address, expires_at)
    select organization_id, user_id, ('00000000-0000-7000-8000-0000000000' || to_char(n, 'FM00'))::uuid, '', '', now() + interval '1 hour'
    from users, unnest(array[users.id, ${colleague}::uuid]) as user_id, generate_series(1, 60) n
    where organization_id = ${organizationId}`
  const newest = await login(app, 'owner@acme.example', firefox)
  expect((await newest.manage('GET', '/me/sessions')).body.data).toHaveLength(50)
  // The one of this test and the new one are later than the inserted ones.
  const sessions = await app.db<{ id: string }>`
    select id from sessions where organization_id = ${organizationId} and user_id <> ${colleague} order by id`
  expect([sessions.length, sessions[0]!.id]).toEqual([50, '00000000-0000-7000-8000-000000000013'])
  expect(await app.db`select from sessions where user_id = ${colleague}`).toHaveLength(60)
})

test('a new email address is used after it is confirmed, and the old one is notified', async () => {
  await using app = await startTestApp({ BASE_URL: 'https://mail.acme.example' })
  const bob = await join(app, 'bob@acme.example', 'member')
  const change = (email: string, current = password) =>
    bob.manage('POST', '/me/email', { email, current_password: current })
  expect((await change('robert@acme.example', 'wrong')).body.error.fields[0].path).toBe('current_password')
  expect((await change('bob@acme.example')).body.error.fields[0].path).toBe('email')
  expect((await change('Robert@acme.example')).body.data.email).toBe('Robert@acme.example')
  // A reset link that was sent to the old address.
  await post(app, '/forgot-password', { email: bob.email })
  const resetToken = tokenIn((await accountEmailTo(app, bob.email, /^Reset/)).link)

  const { link } = await accountEmailTo(app, 'Robert@acme.example', /^Confirm/)
  expect(link).toMatch(/^https:\/\/mail\.acme\.example\/confirm-email#eml_/)
  expect((await bob.manage('GET', '/me')).body.data).toMatchObject({
    user: { email: 'bob@acme.example' },
    pending_email: { email: 'Robert@acme.example' },
  })
  const token = tokenIn(link)
  expect((await post(app, '/check-email-change', { token })).body.data).toMatchObject({
    old_email: 'bob@acme.example',
    new_email: 'Robert@acme.example',
  })
  expect((await post(app, '/confirm-email-change', { token })).body.data).toEqual({ email: 'Robert@acme.example' })

  expect((await bob.manage('GET', '/me')).body.data).toMatchObject({
    user: { email: 'Robert@acme.example' },
    pending_email: null,
  })
  expect((await post(app, '/login', { email: 'robert@acme.example', password })).status).toBe(200)
  expect((await post(app, '/login', { email: bob.email, password })).status).toBe(401)
  expect((await accountEmailTo(app, bob.email, /address.*was changed/)).text).toContain('Robert@acme.example')
  const dead = [
    await post(app, '/confirm-email-change', { token }),
    await post(app, '/check-email-change', { token }),
    await post(app, '/check-password-reset', { token: resetToken }),
    // A token for another purpose.
    await post(app, '/reset-password', { token, password: 'another horse battery' }),
  ]
  expect(dead.map(({ status }) => status)).toEqual([404, 404, 404, 404])
})

test('an address of another account is answered like a free one, and its user gets no link', async () => {
  const app = await newOrganization()
  const other = await registerOther(app)
  const change = async (email: string) =>
    (await app.manage('POST', '/me/email', { email, current_password: password })).body.data.email
  expect(await change(other.email)).toBe(other.email)
  const mail = await accountEmailTo(app, other.email, /already has an account/)
  expect(mail.text).not.toContain('eml_')
  expect(await change('free@acme.example')).toBe('free@acme.example')
  const first = tokenIn((await accountEmailTo(app, 'free@acme.example', /^Confirm/)).link)
  expect((await app.manage('DELETE', '/me/email')).status).toBe(200)
  expect((await post(app, '/confirm-email-change', { token: first })).status).toBe(404)
  expect((await app.manage('GET', '/me')).body.data.pending_email).toBeNull()
})

test('an address that was taken in the meantime is a conflict and changes nothing', async () => {
  const app = await newOrganization()
  await app.manage('POST', '/me/email', { email: 'free@acme.example', current_password: password })
  const token = tokenIn((await accountEmailTo(app, 'free@acme.example', /^Confirm/)).link)
  await registerOther(app, 'Free@acme.example')
  expect((await post(app, '/confirm-email-change', { token })).status).toBe(409)
  expect((await app.manage('GET', '/me')).body.data.user.email).toBe('owner@acme.example')
})

test('changes of the email address are limited', async () => {
  const app = await newOrganization()
  const statuses = []
  for (let count = 0; count < 6; count++) {
    const body = { email: `new${count}@acme.example`, current_password: password }
    statuses.push((await app.manage('POST', '/me/email', body)).status)
  }
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429])
})

test.each([
  [firefox, 'Firefox on Linux'],
  [safari, 'Safari on iOS'],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/131.0 Safari/537.36 Edg/131.0',
    'Edge on Windows',
  ],
  ['Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 Chrome/131.0 Safari/537.36', 'Chrome on macOS'],
  [
    'Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 SamsungBrowser/27.0 Chrome/125.0 Mobile Safari/537.36',
    'Samsung Internet on Android',
  ],
  ['python-requests/2.32', 'python-requests'],
  ['Mozilla/5.0 Firefox/131.0', 'Firefox'],
  ['Mozilla/5.0', 'Unknown device'],
  ['', 'Unknown device'],
])('%s is shown as a device', (userAgent, name) => {
  expect(deviceName(userAgent)).toBe(name)
})
