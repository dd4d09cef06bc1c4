import { scratchBuffer } from '../runtime/scratch.ts'
import { uuidBytes, writeUuid } from '../values/uuid.ts'

// A batch goes to PostgreSQL as one array for each column. In text form both sides spend more on quotes and commas than on
// the rows: 10 µs an event. So they go as array_recv() of PostgreSQL reads them: a head, then each element after its length.

const headBytes = 20
const lengthBytes = 4
const nullLength = -1
/** The greatest size that a text could have is three times what it has, so arrays are cut from here. */
const scratchFor = scratchBuffer(512 * 1024)

/** How one element is written behind its length; returns how many bytes it took, or undefined for what it cannot write. */
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

/** Undefined for an array that is left to the text form, such as one with a number among texts. */
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

/** Dimensions, whether there are nulls, the type, and of the one dimension its length and first index. */
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

/** Undefined for what a double cannot say exactly, which no time before the year 2285 is. */
function writeInt8(buffer: Buffer, at: number, value: number): number | undefined {
  if (!Number.isSafeInteger(value)) return undefined
  const high = Math.floor(value / 2 ** 32)
  buffer.writeInt32BE(high, at)
  buffer.writeUInt32BE(value - high * 2 ** 32, at + 4)
  return 8
}
