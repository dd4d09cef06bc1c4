import { hash } from 'node:crypto'

const blockBytes = 64
const digestBytes = 32
const messageBytesMax = 8_192

export type MacKey = { inner: Buffer; outer: Buffer }

/** For a key of at most 64 bytes. */
export function macKey(key: Uint8Array): MacKey {
  if (key.length > blockBytes) throw new RangeError('a MAC key has at most 64 bytes')
  const padded = (pad: number, room: number) => {
    const bytes = Buffer.alloc(blockBytes + room, 0)
    for (let index = 0; index < blockBytes; index++) bytes[index] = (key[index] ?? 0) ^ pad
    return bytes
  }
  return { inner: padded(0x36, messageBytesMax), outer: padded(0x5c, digestBytes) }
}

/**
 * HMAC-SHA256 as RFC 2104 defines it, in 1 µs where `createHmac`, which makes a stream each time, takes 3.3 to 5.4: a
 * mail has a token in each of its links, and each hit has one to check. The bytes come one to a character.
 */
export function hmacSha256({ inner, outer }: MacKey, message: Uint8Array): string {
  if (message.length > messageBytesMax) throw new RangeError('a message to authenticate is too long')
  inner.set(message, blockBytes)
  outer.write(hash('sha256', inner.subarray(0, blockBytes + message.length), 'binary'), blockBytes, 'latin1')
  return hash('sha256', outer, 'binary')
}
