import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hmacSha256, macKey } from './mac.ts'

const hexOf = (bytes: string) => Buffer.from(bytes, 'latin1').toString('hex')

test('equals the HMAC of node:crypto for any key and message', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), fc.uint8Array({ maxLength: 8_192 }), (key, message) => {
      const expected = createHmac('sha256', key).update(message).digest('hex')
      expect(hexOf(hmacSha256(macKey(key), message))).toBe(expected)
    }),
  )
})

test('a key can be used for many messages of different lengths', () => {
  const key = macKey(Buffer.alloc(32, 7))
  const macs = ['a longer one', 'short', 'a longer one'].map((text) => hexOf(hmacSha256(key, Buffer.from(text))))
  expect(macs[2]).toBe(macs[0])
  expect(macs[1]).toBe(createHmac('sha256', Buffer.alloc(32, 7)).update('short').digest('hex'))
})

test('rejects a key or message that is too long', () => {
  expect(() => macKey(Buffer.alloc(65))).toThrow(RangeError)
  expect(() => hmacSha256(macKey(Buffer.alloc(32)), Buffer.alloc(8_193))).toThrow(RangeError)
})
