import { hash } from 'node:crypto'
import { scratchBuffer } from '../runtime/scratch.ts'

const blockBytes = 64
const digestBytes = 32
const scratchFor = scratchBuffer(16 * 1024)

/**
 * A key for HMAC-SHA-256 (RFC 2104) of short messages. Signing its links is a tenth of Node's CPU time for an email, most of it
 * for creating an object per MAC: `createHmac` takes 2.2 µs for 130 bytes, two calls of `hash` take 1.1.
 */
export class HmacKey {
  readonly #innerPad: Buffer
  /** The outer block, followed by room for the inner digest. */
  readonly #outer: Buffer

  constructor(key: Buffer) {
    if (key.length > blockBytes) throw new RangeError(`The key is longer than ${blockBytes} bytes`)
    this.#innerPad = padded(key, 0x36, blockBytes)
    this.#outer = padded(key, 0x5c, blockBytes + digestBytes)
  }

  /** Returns the MAC as a binary string. Buffers take about 1 µs longer. */
  mac(message: Uint8Array): string {
    const inner = scratchFor(blockBytes + message.length)
    inner.set(this.#innerPad)
    inner.set(message, blockBytes)
    this.#outer.write(hash('sha256', inner.subarray(0, blockBytes + message.length), 'binary'), blockBytes, 'latin1')
    return hash('sha256', this.#outer, 'binary')
  }
}

function padded(key: Buffer, pad: number, length: number): Buffer {
  const block = Buffer.alloc(length).fill(pad, 0, blockBytes)
  key.forEach((byte, index) => {
    block[index] = byte ^ pad
  })
  return block
}
