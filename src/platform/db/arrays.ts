import { scratchBuffer } from '../runtime/scratch.ts'
import { uuidBytes, writeUuid } from '../values/uuid.ts'

// A batch is sent to PostgreSQL as one array per column. Writing and parsing the text format costs 10 µs per event on
// both sides, more than the rows themselves, so arrays are sent in the binary format that array_recv() reads: a header,
// then each element preceded by its length.

const headBytes = 20
const lengthBytes = 4
const nullLength = -1
/** UTF-8 needs up to three bytes per UTF-16 code unit, so arrays are copied from here at their actual size. */
const scratchFor = scratchBuffer(512 * 1024)

/** `write` returns the number of bytes written, or undefined if the value does not have this type. */
type ElementType = {
  oid: number
  bytesMax(value: unknown): number
  write(buffer: Buffer, at: number, value: unknown): number | undefined
}

const elementTypes: Record<string, ElementType> = {
  uuid: {
    oid: 2950,
    bytesMax: () => uuidBytes,
    write: (buffer, at, value) => (typeof value === 'string' && writeUuid(buffer, at, value) ? uuidBytes : undefined),
  },
  text: {
    oid: 25,
    bytesMax: (value) => (typeof value === 'string' ? 3 * value.length : 0),
    write: (buffer, at, value) => (typeof value === 'string' ? buffer.write(value, at) : undefined),
  },
  timestamptz: {
    oid: 1184,
    bytesMax: () => 8,
    write: (buffer, at, value) =>
      value instanceof Date ? writeInt8(buffer, at, (value.getTime() - year2000Ms) * microsPerMs) : undefined,
  },
  int: {
    oid: 23,
    bytesMax: () => 4,
    write: (buffer, at, value) => (value === (Number(value) | 0) ? buffer.writeInt32BE(value, at) - at : undefined),
  },
  int8: {
    oid: 20,
    bytesMax: () => 8,
    write: (buffer, at, value) => (typeof value === 'number' ? writeInt8(buffer, at, value) : undefined),
  },
  bool: {
    oid: 16,
    bytesMax: () => 1,
    write: (buffer, at, value) => (typeof value === 'boolean' ? buffer.writeUInt8(Number(value), at) - at : undefined),
  },
}

const isNull = (value: unknown) => value === null || value === undefined

/** Returns undefined if the array must be sent as text, for example because its elements have different types. */
export function binaryArray(elementType: string, values: readonly unknown[]): Buffer | undefined {
  const type = elementTypes[elementType]
  if (!type) return undefined
  let size = headBytes
  for (const value of values) size += lengthBytes + (isNull(value) ? 0 : type.bytesMax(value))
  const buffer = scratchFor(size)
  let hasNull = 0
  let at = headBytes
  for (const value of values) {
    if (isNull(value)) {
      hasNull = 1
      at = buffer.writeInt32BE(nullLength, at)
      continue
    }
    const length = type.write(buffer, at + lengthBytes, value)
    if (length === undefined) return undefined
    buffer.writeInt32BE(length, at)
    at += lengthBytes + length
  }
  writeHead(buffer, hasNull, type.oid, values.length)
  return Buffer.copyBytesFrom(buffer, 0, at)
}

/** Number of dimensions, null flag, element type, and the length and lower bound of the single dimension. */
function writeHead(buffer: Buffer, hasNull: number, oid: number, length: number): void {
  buffer.writeInt32BE(1, 0)
  buffer.writeInt32BE(hasNull, 4)
  buffer.writeInt32BE(oid, 8)
  buffer.writeInt32BE(length, 12)
  buffer.writeInt32BE(1, 16)
}

// PostgreSQL counts microseconds since 2000.
const year2000Ms = Date.UTC(2000, 0, 1)
const microsPerMs = 1_000

/** Returns undefined if the value is not a safe integer. All times before the year 2285 are. */
function writeInt8(buffer: Buffer, at: number, value: number): number | undefined {
  if (!Number.isSafeInteger(value)) return undefined
  const high = Math.floor(value / 2 ** 32)
  buffer.writeInt32BE(high, at)
  buffer.writeUInt32BE(value - high * 2 ** 32, at + 4)
  return 8
}
