import { hash } from 'node:crypto'

const blockBytes = 64
const digestBytes = 32

/** A key of up to 64 bytes, prepared for both hashes of HMAC-SHA-256 (RFC 2104). */
export type MacKey = { inner: Buffer; outer: Buffer }

export function macKeyOf(key: Buffer): MacKey {
  if (key.length > blockBytes) throw new RangeError(`A key has at most ${blockBytes} bytes`)
  const padded = (byte: number) => Buffer.from(Array.from({ length: blockBytes }, (_, at) => (key[at] ?? 0) ^ byte))
  return { inner: padded(0x36), outer: padded(0x5c) }
}

let inner = Buffer.alloc(0)
const outer = Buffer.alloc(blockBytes + digestBytes)

/**
 * Returns the HMAC-SHA-256 as a binary string. Two calls of `hash` take 1.1 µs instead of the 2.3 of `createHmac`, which
 * also leaves an object with native memory to the garbage collector. An email has five.
 */
export function macOf(key: MacKey, signed: Buffer): string {
  const end = blockBytes + signed.length
  if (inner.length < end) inner = Buffer.alloc(2 * end)
  inner.set(key.inner)
  inner.set(signed, blockBytes)
  outer.set(key.outer)
  outer.write(hash('sha256', inner.subarray(0, end), 'binary'), blockBytes, digestBytes, 'latin1')
  return hash('sha256', outer, 'binary')
}
