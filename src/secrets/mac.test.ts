import { createHmac, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { macKeyOf, macOf } from './mac.ts'

test('is HMAC-SHA-256 for keys and texts of any length', () => {
  for (const keyBytes of [0, 1, 32, 63, 64])
    for (const bytes of [0, 1, 55, 56, 63, 64, 65, 200, 12_000, 3]) {
      const key = randomBytes(keyBytes)
      const signed = randomBytes(bytes)
      const expected = createHmac('sha256', key).update(signed).digest('binary')
      expect(macOf(macKeyOf(key), signed), `${keyBytes} ${bytes}`).toBe(expected)
    }
})

test('rejects a key that would have to be hashed first', () => {
  expect(() => macKeyOf(randomBytes(65))).toThrow(RangeError)
})
