import { expect, test } from 'vitest'
import { join, password, registerOther } from '../../../test/support/people.ts'
import { startTestApp } from '../../../test/support/test-app.ts'

test('updates only the given fields', async () => {
  await using app = await startTestApp({ EVENT_RETENTION_MONTHS: '6' }, ['serve'])
  const other = await registerOther(app)
  const before = (await app.manage('GET', '/organization')).body.data
  expect(before).toEqual({
    id: app.organizationId,
    name: 'Acme',
    timezone: 'UTC',
    keep_addresses: false,
    default_sender: null,
    created_at: expect.any(String),
    event_retention_months: 6,
  })

  await app.manage('PATCH', '/organization', { keep_addresses: true })
  const changed = await app.manage('PATCH', '/organization', { name: ' Acme Mail ', timezone: 'Europe/Vienna' })

  const after = { ...before, name: 'Acme Mail', timezone: 'Europe/Vienna', keep_addresses: true }
  expect(changed.body.data).toEqual(after)
  expect((await app.manage('PATCH', '/organization', { keep_addresses: false })).body.data.keep_addresses).toBe(false)
  const { event_retention_months: _, ...mine } = { ...after, keep_addresses: false }
  expect((await app.manage('GET', '/me')).body.data.organization).toEqual(mine)
  expect((await other.manage('GET', '/organization')).body.data).toMatchObject({ name: 'Other', timezone: 'UTC' })
})

test('rejects invalid fields by name and changes nothing', async () => {
  await using app = await startTestApp({}, ['serve'])
  const wrong = {
    name: [' ', 'x'.repeat(201), null],
    timezone: ['Middle/Earth', '+01:00', ''],
    keep_addresses: ['yes'],
  }
  for (const [path, values] of Object.entries(wrong)) {
    for (const value of values) {
      const answer = await app.manage('PATCH', '/organization', { name: 'New', keep_addresses: true, [path]: value })
      expect([path, answer.status, answer.body.error.fields[0].path]).toEqual([path, 422, path])
    }
  }
  expect((await app.manage('GET', '/organization')).body.data).toMatchObject({ name: 'Acme', keep_addresses: false })
})

test('changing the password requires the current one and ends all other sessions', async () => {
  await using app = await startTestApp({}, ['serve'])
  const bob = await join(app, 'bob@acme.example', 'member')
  const login = async (secret: string) =>
    (await app.call('POST', '/api/v1/auth/login', { body: { email: bob.email, password: secret } })).status
  const change = (current_password: string, new_password: string) =>
    bob.manage('POST', '/me/password', { current_password, new_password })

  const wrong = await change('not my password', 'a new long password')
  expect(wrong.body.error.fields).toEqual([{ path: 'current_password', problem: 'is incorrect' }])
  const short = await change(password, 'short')
  expect(short.body.error.fields).toEqual([{ path: 'new_password', problem: 'must have at least 10 characters' }])
  expect(await login(password)).toBe(200)

  const changed = await change(password, 'a new long password')
  expect([await login(password), await login('a new long password')]).toEqual([401, 200])
  const me = async (token: string) =>
    (await app.call('GET', '/api/v1/me', { headers: { authorization: `Bearer ${token}` } })).status
  expect([(await bob.manage('GET', '/me')).status, await me(changed.body.data.token)]).toEqual([401, 200])
  expect((await app.manage('GET', '/me')).status).toBe(200)
})

test('limits attempts at the current password like sign-in attempts', async () => {
  await using app = await startTestApp({}, ['serve'])
  const statuses: number[] = []
  for (let i = 0; i < 11; i++) {
    const body = { current_password: `guess ${i}`, new_password: 'a new long password' }
    statuses.push((await app.manage('POST', '/me/password', body)).status)
  }
  expect(statuses).toEqual([...Array(10).fill(422), 429])
})
