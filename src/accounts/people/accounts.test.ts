import { SignJWT } from 'jose'
import { expect, test } from 'vitest'
import { join } from '../../../test/support/people.ts'
import { type Answer, callUrl, startSharedApp, startTestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { deriveKey } from '../../platform/secrets/secrets.ts'
import { newId } from '../../platform/values/ids.ts'
import { passwordMark, Sessions } from './sessions.ts'

const newOrganization = await startSharedApp()

const password = 'correct horse battery'

test('returns the organization of a valid key, at both places where clients expect it', async () => {
  const app = await newOrganization()
  const answer = await app.publicApi('GET', '/token/check')
  expect(answer.status).toBe(200)
  expect(answer.body).toMatchObject({
    code: 200,
    status: 'success',
    organization_id: app.organizationId,
    data: {
      organization_id: app.organizationId,
      organization_name: 'Acme',
      scopes: ['contacts:write', 'flows:send', 'analytics:read'],
    },
  })
})

test('returns the same response for missing, malformed, unknown and revoked keys', async () => {
  const app = await newOrganization()
  const made = await app.manage('POST', '/organization/api-keys', { name: 'short-lived' })
  const key: string = made.body.data.api_key
  expect((await app.call('GET', '/public/api/v1/token/check', { headers: { 'x-api-token': key } })).status).toBe(200)
  expect((await app.manage('DELETE', `/organization/api-keys/${made.body.data.id}`)).status).toBe(200)

  const answers = await Promise.all(
    [undefined, '', 'nonsense', `wxk_${'a'.repeat(43)}`, key].map((token) =>
      app.call('GET', '/public/api/v1/token/check', token === undefined ? {} : { headers: { 'x-api-token': token } }),
    ),
  )
  for (const answer of answers) {
    expect(answer.status).toBe(401)
    expect({ ...answer.body, error: { ...answer.body.error, request_id: '' } }).toEqual({
      code: 401,
      status: 'error',
      message: 'The API key is missing or invalid. Send it in the X-Api-Token header.',
      data: null,
      error: { type: 'unauthorized', fields: [], request_id: '' },
    })
  }
})

test('a key revoked in another process stops working within seconds', async () => {
  await using app = await startTestApp()
  expect((await app.publicApi('GET', '/token/check')).status).toBe(200)
  await app.db.statement`update api_keys set revoked_at = now()`
  await until('the key to stop working', async () => (await app.publicApi('GET', '/token/check')).status === 401)
})

test('stores only the hash of a key and does not list the key', async () => {
  await using app = await startTestApp()
  const list = await app.manage('GET', '/organization/api-keys')
  expect(list.body.data).toHaveLength(1)
  expect(list.text).not.toContain(app.apiKey)
  const [row] = await app.db<{ row: string }>`select to_jsonb(api_keys)::text as row from api_keys`
  expect(row!.row).not.toContain(app.apiKey)
})

test('lists when a key was last used', async () => {
  const app = await newOrganization()
  await app.manage('POST', '/organization/api-keys', { name: 'idle' })
  await app.publicApi('GET', '/token/check')
  const used = async () =>
    (await app.manage('GET', '/organization/api-keys')).body.data.map(
      (key: { last_used_at: string | null }) => key.last_used_at,
    )
  await until('the use to show', async () => (await used())[1])
  expect(await used()).toEqual([null, expect.any(String)])
})

test('registration closes after the first user unless it is open', async () => {
  await using app = await startTestApp({ SIGNUP: 'first-user' })
  const second = { organization_name: 'Other', email: 'other@acme.example', password }
  const refused = await app.call('POST', '/api/v1/auth/register', { body: second })
  expect(refused.status).toBe(403)
})

test('two concurrent first registrations create one organization', async () => {
  await using app = await startTestApp({ SIGNUP: 'first-user' })
  await app.db.statement`delete from organizations`
  const answers = await Promise.all(
    [1, 2, 3].map((number) =>
      app.call('POST', '/api/v1/auth/register', {
        body: { organization_name: `Org ${number}`, email: `u${number}@acme.example`, password },
      }),
    ),
  )
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 403, 403])
})

test('a client network can register a limited number of organizations an hour', async () => {
  await using app = await startTestApp({ SIGNUPS_PER_HOUR: '3', TRUST_PROXY: 'true' }, ['serve'])
  const register = async (name: string, address?: string) => {
    const { status } = await app.call('POST', '/api/v1/auth/register', {
      headers: address ? { 'x-forwarded-for': address } : {},
      body: { organization_name: name, email: `${name}@acme.example`, password },
    })
    return status
  }
  // Rejected registrations do not count.
  for (let at = 0; at < 4; at++) expect(await register('owner')).toBe(409)
  const own = await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => register(name)))
  expect(own.sort()).toEqual([201, 201, 201, 429, 429, 429])
  const network = await Promise.all([1, 2, 3, 4, 5].map((at) => register(`g${at}`, `2001:db8:1:2::${at}`)))
  expect(network.sort()).toEqual([201, 201, 201, 429, 429])
  expect(await register('h', '2001:db8:1:3::1')).toBe(201)
})

test('an email address has one account, ignoring case', async () => {
  await using app = await startTestApp()
  const answer = await app.call('POST', '/api/v1/auth/register', {
    body: { organization_name: 'Again', email: ' OWNER@ACME.example ', password },
  })
  expect(answer.status).toBe(409)
  expect(answer.body.error.type).toBe('conflict')
})

test('rejects invalid registrations with every invalid field', async () => {
  await using app = await startTestApp()
  const empty = await app.call('POST', '/api/v1/auth/register', { body: {} })
  expect(empty.status).toBe(422)
  expect(empty.body.error.fields.map((field: { path: string }) => field.path)).toEqual([
    'organization_name',
    'email',
    'password',
  ])
  const short = await app.call('POST', '/api/v1/auth/register', {
    body: { organization_name: 'X', email: 'x@acme.example', password: 'short' },
  })
  expect(short.body.error.fields).toEqual([{ path: 'password', problem: 'must have at least 10 characters' }])
  expect(await app.db`select from users`).toHaveLength(1)
})

test('login returns a session, and the same error for a wrong password and an unknown account', async () => {
  await using app = await startTestApp()
  const right = await app.call('POST', '/api/v1/auth/login', { body: { email: 'Owner@acme.example', password } })
  expect(right.status).toBe(200)
  expect(right.body.data).toMatchObject({
    organization_id: app.organizationId,
    user: { email: 'owner@acme.example', role: 'owner' },
  })

  const wrong = await app.call('POST', '/api/v1/auth/login', {
    body: { email: 'owner@acme.example', password: 'wrong' },
  })
  const unknown = await app.call('POST', '/api/v1/auth/login', { body: { email: 'nobody@acme.example', password } })
  expect([wrong.status, unknown.status]).toEqual([401, 401])
  expect(wrong.body.message).toBe(unknown.body.message)
})

test('limits password attempts after ten failures', async () => {
  await using app = await startTestApp()
  const attempt = () =>
    app.call('POST', '/api/v1/auth/login', { body: { email: 'owner@acme.example', password: 'wrong' } })
  const answers = []
  for (let i = 0; i < 11; i++) answers.push(await attempt())
  expect(answers.map(({ status }) => status)).toEqual([...Array(10).fill(401), 429])
  expect(Number(answers[10]!.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(answers[10]!.body.message).toBe('Too many failed logins. Try again in 15 minutes.')
})

test('limits concurrent password attempts like sequential ones', async () => {
  await using app = await startTestApp({}, ['serve'])
  const guesses = Array.from({ length: 40 }, (_, n) => `wrong password ${n}`)
  const statusesOf = async (call: (guess: string) => Promise<Answer>) =>
    (await Promise.all(guesses.map(call))).map(({ status }) => status).sort()

  const logins = await statusesOf((guess) =>
    app.call('POST', '/api/v1/auth/login', { body: { email: 'else@acme.example', password: guess } }),
  )
  const changes = await statusesOf((guess) =>
    app.manage('POST', '/me/password', { current_password: guess, new_password: 'another horse battery' }),
  )

  expect(logins).toEqual([...Array(10).fill(401), ...Array(30).fill(429)])
  expect(changes).toEqual([...Array(10).fill(422), ...Array(30).fill(429)])
})

test('rejects a session that is forged, unsigned, or of a removed user', async () => {
  await using app = await startTestApp()
  const me = (token: string) =>
    callUrl('GET', `${app.url}/api/v1/me`, { headers: { authorization: `Bearer ${token}` } })
  expect((await me(app.session)).body.data).toMatchObject({
    user: { email: 'owner@acme.example' },
    organization: { name: 'Acme' },
    role: 'owner',
  })

  const [, payload] = app.session.split('.')
  const unsigned = `${Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')}.${payload}.`
  for (const token of [unsigned, `${app.session.slice(0, -2)}xx`, 'x', '']) expect((await me(token)).status).toBe(401)

  await app.db.statement`delete from users`
  expect((await me(app.session)).status).toBe(401)
})

test('another organization cannot see or delete keys', async () => {
  await using app = await startTestApp()
  const other = await app.call('POST', '/api/v1/auth/register', {
    body: { organization_name: 'Other', email: 'other@acme.example', password },
  })
  const headers = { authorization: `Bearer ${other.body.data.token}` }
  const mine = await app.manage('GET', '/organization/api-keys')
  const theirs = await app.call('GET', '/api/v1/organization/api-keys', { headers })
  expect(theirs.body.data).toEqual([])
  const deleted = await app.call('DELETE', `/api/v1/organization/api-keys/${mine.body.data[0].id}`, { headers })
  expect(deleted.status).toBe(404)
  expect((await app.publicApi('GET', '/token/check')).status).toBe(200)
})

test('signing out everywhere ends all sessions of this account only', async () => {
  await using app = await startTestApp({}, ['serve'])
  const bob = await join(app, 'bob@acme.example', 'member')
  const login = async () =>
    (await app.call('POST', '/api/v1/auth/login', { body: { email: bob.email, password } })).body.data.token as string
  const me = async (token: string) =>
    (await app.call('GET', '/api/v1/me', { headers: { authorization: `Bearer ${token}` } })).status
  const second = await login()
  expect((await bob.manage('POST', '/me/sign-out-everywhere')).status).toBe(200)
  expect([(await bob.manage('GET', '/me')).status, await me(second)]).toEqual([401, 401])
  expect((await app.manage('GET', '/me')).status).toBe(200)
  expect(await me(await login())).toBe(200)
})

test('the previous secret is accepted only for sessions issued before the rotation, and no session exceeds twelve hours', async () => {
  const account = {
    id: newId('usr'),
    organizationId: newId('org'),
    email: 'a@acme.example',
    name: null,
    role: 'owner' as const,
    mayBroadcast: true,
    createdAt: new Date(),
    passwordHash: 'hash',
    sessionEpoch: 0,
  }
  const currentSince = new Date(Date.now() - 60_000)
  const sessions = new Sessions({ current: 'new', previous: 'old', currentSince })
  const forge = (secret: string, iat: number, lifetime: number) =>
    new SignJWT({ org: account.organizationId, pwd: passwordMark(account) })
      .setProtectedHeader({ alg: 'HS256' })
      .setIssuer('waxwing')
      .setSubject(account.id)
      .setIssuedAt(iat)
      .setExpirationTime(iat + lifetime)
      .sign(deriveKey(secret, 'session'))
  const now = Math.floor(Date.now() / 1000)
  const [hour, years] = [3_600, 315_360_000]
  const isGood = async (token: string) => (await sessions.verify(token)) !== undefined
  expect(await isGood((await sessions.issue(account, newId('ses'))).token)).toBe(true)
  expect(await isGood(await forge('old', now - hour, 12 * hour))).toBe(true)
  expect(await isGood(await forge('old', now - 30, 12 * hour))).toBe(false)
  const unmarked = new Sessions({ current: 'new', previous: 'old' })
  expect(await unmarked.verify(await forge('old', now - hour, 12 * hour))).toBeUndefined()
  expect(await isGood(await forge('old', now - 13 * hour, years))).toBe(false)
  expect(await isGood(await forge('new', now - 13 * hour, years))).toBe(false)
})
