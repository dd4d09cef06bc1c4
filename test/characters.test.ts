import { expect, test } from 'vitest'
import { startTestApp } from './support/test-app.ts'

test('limits in characters count an emoji as one character', async () => {
  await using app = await startTestApp({}, ['serve'])
  const manage = async (path: string, body: object) => (await app.manage('POST', `/organization${path}`, body)).status
  const flow = { name: 'Hello', kind: 'transactional', subject: 'Hello', html: '<p>Hello</p>' }
  const webhook = { url: 'http://127.0.0.1:9/', all_events: true }
  const person = { organization_name: 'Other', email: 'owner@other.example' }
  const cases: [string, number, (text: string) => Promise<number>][] = [
    ['group', 200, (name) => manage('/groups', { name })],
    ['contact', 200, (first_name) => manage('/contacts', { email: 'ada@example.com', first_name })],
    ['webhook', 200, (name) => manage('/webhooks', { name, ...webhook })],
    ['sender', 200, (from_name) => manage('/flows', { ...flow, from_name })],
    ['subject', 998, (subject) => manage('/flows', { ...flow, subject })],
    [
      'password',
      256,
      async (password) => (await app.call('POST', '/api/v1/auth/register', { body: { ...person, password } })).status,
    ],
  ]
  for (const [what, max, take] of cases)
    expect([what, await take('🦜'.repeat(max + 1)), await take('🦜'.repeat(max))]).toEqual([what, 422, 201])
  const login = { email: person.email, password: '🦜'.repeat(256) }
  expect((await app.call('POST', '/api/v1/auth/login', { body: login })).status).toBe(200)
})
