import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { HmacKey } from './hmac.ts'

test('a MAC is the HMAC-SHA-256 of the message, whatever was signed before', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 64 }),
      fc.array(fc.uint8Array({ maxLength: 300 }), { minLength: 1, maxLength: 3 }),
      (secret, messages) => {
        const key = new HmacKey(Buffer.from(secret))
        for (const message of messages)
          expect(key.mac(message)).toBe(createHmac('sha256', secret).update(message).digest('binary'))
      },
    ),
  )
})

test('a message may be longer than the shared buffer', () => {
  const secret = Buffer.alloc(32, 'key')
  const message = Buffer.alloc(100_000, 'message')
  expect(new HmacKey(secret).mac(message)).toBe(createHmac('sha256', secret).update(message).digest('binary'))
})

test('a key that is longer than a block is rejected', () => {
  expect(() => new HmacKey(Buffer.alloc(65))).toThrow(RangeError)
})
