import { expect, test } from 'vitest'
import { startTestApp } from '../../../test/support/test-app.ts'
import { checkNewPassword, hashPassword, passwordFits } from './passwords.ts'

test('many registrations do not block sign-ins', async () => {
  await using app = await startTestApp({}, ['serve'])
  const flood = Promise.allSettled(Array.from({ length: 260 }, (_, n) => hashPassword(`a password ${n}`)))
  const login = await app.call('POST', '/api/v1/auth/login', {
    body: { email: 'owner@acme.example', password: 'correct horse battery' },
  })
  expect(login.status).toBe(200)
  const results = await flood
  expect(results.filter(({ status }) => status === 'rejected').length).toBeGreaterThan(0)
})

test('rejects common passwords', () => {
  const isRefused = (password: string) => {
    try {
      checkNewPassword(password)
      return false
    } catch {
      return true
    }
  }
  const weak = ['1234567890', '0987654321', 'aaaaaaaaaaaa', 'abcdefghij', 'qwertyuiop', 'Password123!', '1212121212']
  expect(weak.filter((password) => !isRefused(password))).toEqual([])
  expect(['correct horse battery', 'tr0ub4dor&3xyz', '7391850264'].filter(isRefused)).toEqual([])
})

test('requires 10 to 256 characters', () => {
  const isTaken = (length: number) => {
    try {
      checkNewPassword('correct horse '.repeat(20).slice(0, length))
      return true
    } catch {
      return false
    }
  }
  expect([9, 10, 256, 257].map(isTaken)).toEqual([false, true, true, false])
})

test('a hash that costs more than ours is not verified', async () => {
  const { hash } = await import('@node-rs/argon2')
  const password = 'correct horse battery'
  const fits = async (memoryCost: number, timeCost: number, parallelism: number) =>
    passwordFits(await hash(password, { memoryCost, timeCost, parallelism }), password)
  expect(await fits(19_456, 2, 1)).toBe(true)
  expect(await fits(8_192, 1, 1)).toBe(true)
  expect([await fits(32_768, 2, 1), await fits(19_456, 3, 1), await fits(19_456, 2, 2)]).toEqual([false, false, false])
  expect(await passwordFits('', password)).toBe(false)
})
