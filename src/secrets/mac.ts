import { hash } from 'node:crypto'

const blockBytes = 64
const digestBytes = 32
const messageBytesMax = 8_192

export type MacKey = { inner: Buffer; outer: Buffer }

/** Throws `RangeError` if the key is longer than 64 bytes. */
export function macKey(key: Uint8Array): MacKey {
  if (key.length > blockBytes) throw new RangeError('A MAC key must not exceed 64 bytes')
  const padded = (pad: number, room: number) => {
    const bytes = Buffer.alloc(blockBytes + room, 0)
    for (let index = 0; index < blockBytes; index++) bytes[index] = (key[index] ?? 0) ^ pad
    return bytes
  }
  return { inner: padded(0x36, messageBytesMax), outer: padded(0x5c, digestBytes) }
}

/**
 * HMAC-SHA256 (RFC 2104), returned as a binary string. Takes 1 µs, compared with 3.3 to 5.4 µs for `createHmac`, which
 * creates a stream each time. Every link of an email contains a token, and every hit verifies one.
 */
export function hmacSha256({ inner, outer }: MacKey, message: Uint8Array): string {
  if (message.length > messageBytesMax) throw new RangeError('The message is too long')
  inner.set(message, blockBytes)
  outer.write(hash('sha256', inner.subarray(0, blockBytes + message.length), 'binary'), blockBytes, 'latin1')
  return hash('sha256', outer, 'binary')
}
