import { expect, test } from 'vitest'
import { startTestApp } from '../../test/support/test-app.ts'
import { checkNewPassword, hashPassword } from './passwords.ts'

const moreThanMayWait = 202

test('while too many passwords wait, a login is asked to come back, and then it is served', async () => {
  await using app = await startTestApp({}, ['serve'])
  const login = () =>
    app.call('POST', '/api/v1/auth/login', { body: { email: 'nobody@acme.example', password: 'correct horse' } })
  const flood = Promise.all(Array.from({ length: moreThanMayWait }, (_, n) => hashPassword(`password ${n}`)))

  const early = await login()
  expect([early.status, early.body.error.type]).toEqual([503, 'unavailable'])
  expect(Number(early.headers.get('retry-after'))).toBeGreaterThan(0)

  await flood
  expect((await login()).status).toBe(401)
})

test('a new password has ten to 256 characters', () => {
  const isTaken = (length: number) => {
    try {
      checkNewPassword('x'.repeat(length))
      return true
    } catch {
      return false
    }
  }
  expect([9, 10, 256, 257].map(isTaken)).toEqual([false, true, true, false])
})
