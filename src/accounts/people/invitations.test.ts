import { expect, test } from 'vitest'
import { accountEmailTo, linkIn, tokenIn } from '../../../test/support/account-email.ts'
import { join, password, registerOther } from '../../../test/support/people.ts'
import { startRelay } from '../../../test/support/relay.ts'
import { create, createKey } from '../../../test/support/resources.ts'
import { startSharedApp, startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { parseId } from '../../platform/values/ids.ts'

const newOrganization = await startSharedApp({}, ['serve'])

const invite = (app: TestApp, body: object) => create(app, '/invitations', body)
const read = (app: TestApp, token: string) => app.call('GET', `/api/v1/auth/invitations/${token}`)
const usersOf = ({ db, organizationId }: TestApp) =>
  db`select from users where organization_id = ${parseId('org', organizationId)!}`
const accept = (app: TestApp, body: object) =>
  app.call('POST', '/api/v1/auth/accept-invitation', { body: { password, ...body } })

test('an invitation shows its details, can be accepted, and is deleted then', async () => {
  await using app = await startTestApp({ BASE_URL: 'https://mail.acme.example' }, ['serve'])
  const made = await invite(app, { email: 'Bob@Acme.example', role: 'owner' })
  expect(made.url).toBe(`https://mail.acme.example/invitation/${made.token}`)
  expect((await read(app, made.token)).body.data).toEqual({
    organization_name: 'Acme',
    email: 'Bob@acme.example',
    role: 'owner',
    expires_at: made.expires_at,
  })

  const accepted = await accept(app, { token: made.token })

  expect(accepted.status).toBe(201)
  expect(accepted.body.data).toMatchObject({
    organization_id: app.organizationId,
    user: { email: 'Bob@acme.example', role: 'owner' },
  })
  const me = await app.call('GET', '/api/v1/me', { headers: { authorization: `Bearer ${accepted.body.data.token}` } })
  expect(me.body.data.user.email).toBe('Bob@acme.example')
  expect((await read(app, made.token)).status).toBe(404)
  expect((await accept(app, { token: made.token, email: 'second@acme.example' })).status).toBe(404)
  expect((await app.manage('GET', '/organization/invitations')).body.data).toEqual([])
})

test('a link can be used once, even by concurrent requests', async () => {
  const app = await newOrganization()
  const { token } = await invite(app, { role: 'member' })
  const answers = await Promise.all(
    [1, 2, 3, 4].map((number) => accept(app, { token, email: `person${number}@acme.example` })),
  )
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 404, 404, 404])
  expect(await usersOf(app)).toHaveLength(2)
})

test('the token is neither listed nor stored', async () => {
  const app = await newOrganization()
  const { token } = await invite(app, { email: 'bob@acme.example', role: 'member' })
  const list = await app.manage('GET', '/organization/invitations')
  expect(list.body.data).toMatchObject([{ email: 'bob@acme.example', role: 'member' }])
  const secret = token.slice(-43)
  expect(list.text).not.toContain(secret)
  const [row] = await app.db<{ text: string }>`
    select to_jsonb(invitations)::text as text from invitations where organization_id = ${parseId('org', app.organizationId)!}`
  expect(row!.text).not.toContain(secret)
})

test('returns the same response for expired, withdrawn and unknown invitations', async () => {
  const app = await newOrganization()
  const withdrawn = await invite(app, { role: 'member' })
  expect((await app.manage('DELETE', `/organization/invitations/${withdrawn.id}`)).body.data).toBeNull()
  expect((await app.manage('DELETE', `/organization/invitations/${withdrawn.id}`)).status).toBe(404)
  const expired = await invite(app, { role: 'member' })
  expect(Date.parse(expired.expires_at) - Date.parse(expired.created_at)).toBe(7 * 24 * 60 * 60 * 1000)
  await app.db.statement`update invitations set expires_at = now() where id = ${parseId('inv', expired.id)!}`

  const altered = `${expired.token.slice(0, -1)}${expired.token.endsWith('A') ? 'B' : 'A'}`
  for (const token of [expired.token, withdrawn.token, altered, 'nonsense', 'inv_%00']) {
    const answers = [await read(app, token), await accept(app, { token, email: 'bob@acme.example' })]
    expect(answers.map(({ status }) => status)).toEqual([404, 404])
    expect(answers.map(({ body }) => body.message)).toEqual(Array(2).fill(answers[0]!.body.message))
  }
  expect(await usersOf(app)).toHaveLength(1)
})

test('an invitation with an address accepts only that address; one without requires an address', async () => {
  const app = await newOrganization()
  const named = await invite(app, { email: 'bob@acme.example', role: 'member' })
  const open = await invite(app, { role: 'member' })
  const other = await accept(app, { token: named.token, email: 'eve@acme.example' })
  expect(other.body.error.fields).toEqual([{ path: 'email', problem: 'must be the address that was invited' }])
  expect((await accept(app, { token: open.token })).body.error.fields[0].path).toBe('email')
  expect((await accept(app, { token: open.token, email: 'not an address' })).status).toBe(422)
  expect((await accept(app, { token: named.token, email: 'BOB@acme.example' })).status).toBe(201)
})

test('a failed acceptance does not use up the invitation', async () => {
  const app = await newOrganization()
  await registerOther(app, 'busy@other.example')
  const { token } = await invite(app, { role: 'member' })
  const short = await accept(app, { token, email: 'bob@acme.example', password: 'short' })
  expect(short.body.error.fields[0].path).toBe('password')
  const taken = await accept(app, { token, email: 'Busy@other.example' })
  expect([taken.status, taken.body.error.type]).toEqual([409, 'conflict'])
  expect((await accept(app, { token, email: 'bob@acme.example' })).status).toBe(201)
})

test('rejects invitations of members, and joining deletes the other invitations of the address', async () => {
  const app = await newOrganization()
  await invite(app, { email: 'bob@acme.example', role: 'member' })
  await join(app, 'Bob@acme.example', 'member')
  expect((await app.manage('GET', '/organization/invitations')).body.data).toEqual([])
  const again = await app.manage('POST', '/organization/invitations', { email: 'BOB@acme.example', role: 'member' })
  expect([again.status, again.body.error.type]).toEqual([409, 'conflict'])
  const wrong = await app.manage('POST', '/organization/invitations', { email: 'nobody', role: 'member' })
  expect(wrong.body.error.fields[0].path).toBe('email')
})

test('invitations of another organization cannot be seen, withdrawn or used', async () => {
  const app = await newOrganization()
  const other = await registerOther(app)
  const { id, token } = await invite(app, { role: 'member' })
  expect((await other.manage('GET', '/organization/invitations')).body.data).toEqual([])
  expect((await other.manage('DELETE', `/organization/invitations/${id}`)).status).toBe(404)
  const elsewhere = `inv_${other.organizationId.slice('org_'.length)}${token.slice(-43)}`
  expect((await read(app, elsewhere)).status).toBe(404)
  expect((await read(app, token)).status).toBe(200)
})

test('limits pending invitations to a hundred, not counting expired ones', async () => {
  const app = await newOrganization()
  await app.db.statement`
    insert into invitations (organization_id, id, role, token_hash, expires_at)
    select ${parseId('org', app.organizationId)!}::uuid, gen_random_uuid(), 'member', sha256(n::text::bytea), now() + interval '1 day'
    from generate_series(1, 100) n`
  expect((await app.manage('POST', '/organization/invitations', { role: 'member' })).status).toBe(409)
  await app.db.statement`update invitations set expires_at = now() where token_hash = sha256('1')`
  expect((await app.manage('POST', '/organization/invitations', { role: 'member' })).status).toBe(201)
})

test('an invitation with an address is sent by email, and the link in it works', async () => {
  await using relay = await startRelay()
  await using app = await startTestApp({
    SMTP_URL: relay.url,
    BASE_URL: 'https://mail.acme.example',
    SIGNUP: 'first-user',
  })
  await app.manage('PATCH', '/me', { name: 'Ada Lovelace' })
  const made = await invite(app, { email: 'bob@acme.example', role: 'owner' })
  const { recipient, mail } = await until('the email', () => relay.mails[0])
  expect([recipient, mail.subject]).toEqual(['bob@acme.example', 'Join Acme on Waxwing'])
  const link = linkIn(mail.text!)
  expect(link).toBe(made.url)
  expect(mail.text).toContain('Ada Lovelace invited you to join the organization “Acme” as an owner.')
  expect(made.sent_at).toEqual(expect.any(String))
  const accepted = await accept(app, { token: tokenIn(link), name: 'Bob' })
  expect(accepted.body.data.user).toMatchObject({ email: 'bob@acme.example', name: 'Bob' })

  expect((await invite(app, { role: 'member' })).sent_at).toBeNull()
  expect((await invite(app, { email: 'eve@acme.example', role: 'member', send_email: false })).sent_at).toBeNull()
  expect(await app.db`select from jobs where kind = 'account.email'`).toEqual([])
})

test('a resent invitation has a new link; the earlier one is invalid', async () => {
  await using relay = await startRelay()
  await using app = await startTestApp({ SMTP_URL: relay.url })
  const tokenOfEmail = async (count: number) =>
    tokenIn(linkIn((await until('the email', () => relay.mails[count])).mail.text!))
  const made = await invite(app, { email: 'bob@acme.example', role: 'member' })
  const first = await tokenOfEmail(0)
  const resend = (id = made.id) => app.manage('POST', `/organization/invitations/${id}/resend`)
  expect((await resend()).status).toBe(429)
  await app.db
    .statement`update invitations set sent_at = now() - interval '2 minutes', expires_at = now() + interval '1 day'`
  const again = await resend()
  expect(Date.parse(again.body.data.expires_at) - Date.now()).toBeGreaterThan(6 * 24 * 60 * 60 * 1000)
  expect((await read(app, first)).status).toBe(404)
  expect((await accept(app, { token: await tokenOfEmail(1) })).status).toBe(201)

  expect((await resend()).status).toBe(404)
  expect((await resend((await invite(app, { role: 'member' })).id)).status).toBe(409)
  const often = await invite(app, { email: 'eve@acme.example', role: 'member' })
  await app.db.statement`update invitations set sent_at = now() - interval '2 minutes', sent_count = 5`
  expect((await resend(often.id)).status).toBe(409)
})

test('only owners can send an invitation again', async () => {
  const app = await newOrganization()
  const eve = await join(app, 'eve@acme.example', 'member')
  const { id } = await invite(app, { email: 'bob@acme.example', role: 'member' })
  expect((await eve.manage('POST', `/organization/invitations/${id}/resend`)).status).toBe(403)
})

test('an organization sends a limited number of invitations per hour', async () => {
  const app = await newOrganization()
  const send = (count: number) =>
    app.manage('POST', '/organization/invitations', { email: `person${count}@acme.example`, role: 'member' })
  for (let count = 0; count < 30; count++) expect((await send(count)).status).toBe(201)
  expect((await send(30)).status).toBe(429)
})

test('the name of an organization cannot add a link or a header to the email', async () => {
  await using app = await startTestApp()
  await app.manage('PATCH', '/me', { name: 'Win at evil.example' })
  await app.manage('PATCH', '/organization', { name: `<a href="https://evil.example">Prize</a>${' x'.repeat(60)}` })
  await invite(app, { email: 'bob@acme.example', role: 'member' })
  const mail = await accountEmailTo(app, 'bob@acme.example', /^Join/)
  expect(mail.subject.length).toBeLessThan(90)
  expect(mail.html).not.toContain('<a href="https://evil')
  expect(mail.text).not.toContain('https://evil')
  expect(mail.html + mail.text).not.toContain('evil.example')
})

test('an existing account joins with its password and leaves its organization, unless it is the only owner', async () => {
  const app = await newOrganization()
  const bob = await registerOther(app, 'bob@other.example')
  const { token } = await invite(app, { email: 'Bob@other.example', role: 'owner' })
  const take = (body: object = {}) => accept(app, { token, existing_account: true, ...body })
  expect((await accept(app, { token })).status).toBe(409)
  expect((await take({ password: 'wrong password' })).status).toBe(401)
  expect((await take()).body.message).toContain('only owner')
  expect((await bob.manage('GET', '/me')).body.data.organization.name).toBe('Other')

  const second = (await bob.manage('POST', '/organization/invitations', { email: 'x@other.example', role: 'owner' }))
    .body
  await accept(app, { token: second.data.token })
  const key = await createKey(bob)
  const joined = await take()

  expect(joined.body.data).toMatchObject({
    organization_id: app.organizationId,
    user: { id: bob.id, email: 'bob@other.example', role: 'owner' },
  })
  expect((await bob.manage('GET', '/me')).status).toBe(401)
  const login = await app.call('POST', '/api/v1/auth/login', { body: { email: bob.email, password } })
  expect(login.body.data.organization_id).toBe(app.organizationId)
  const check = await app.call('GET', '/public/api/v1/token/check', { headers: { 'x-api-token': key } })
  expect(check.body.organization_id).toBe(bob.organizationId)
  expect((await take()).status).toBe(404)
  const mine = await invite(app, { role: 'member' })
  const again = await accept(app, { token: mine.token, email: 'bob@other.example', existing_account: true })
  expect(again.status).toBe(409)
})
