/** Returns the text of a part, or undefined if its encoding or character set is unknown. */
export function decodePart(bytes: Buffer, encoding: string, charset: string): string | undefined {
  const content = decodeTransfer(bytes, encoding)
  if (!content) return undefined
  try {
    return new TextDecoder(charset === 'us-ascii' ? 'utf-8' : charset).decode(content)
  } catch {
    return undefined
  }
}

function decodeTransfer(bytes: Buffer, encoding: string): Buffer | undefined {
  switch (encoding) {
    case '7bit':
    case '8bit':
    case 'binary':
      return bytes
    case 'base64':
      return Buffer.from(bytes.toString('latin1'), 'base64')
    case 'quoted-printable':
      return decodeQuotedPrintable(bytes)
    default:
      return undefined
  }
}

const tab = 9
const lf = 10
const cr = 13
const space = 32
const equals = 61

/** The value of a hexadecimal digit by its character code, or -1. */
const digits = new Int8Array(256).fill(-1)
for (const digit of '0123456789abcdefABCDEF') digits[digit.charCodeAt(0)] = Number.parseInt(digit, 16)

/** RFC 2045 section 6.7. An equals sign that starts no code is kept. */
function decodeQuotedPrintable(bytes: Buffer): Buffer {
  const out = Buffer.allocUnsafe(bytes.length)
  let end = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (byte === cr && bytes[at + 1] === lf) {
      // Spaces at the end of a line were added in transit.
      while (end > 0 && (out[end - 1] === space || out[end - 1] === tab)) end--
    }
    if (byte !== equals) {
      out[end++] = byte
      continue
    }
    // Beyond the end there are no digits.
    const high = digits[bytes[at + 1] ?? 0]!
    const low = digits[bytes[at + 2] ?? 0]!
    if (high !== -1 && low !== -1) {
      out[end++] = high * 16 + low
      at += 2
      continue
    }
    const nextLine = endOfSoftBreak(bytes, at + 1)
    if (nextLine !== -1) at = nextLine - 1
    else out[end++] = byte
  }
  return out.subarray(0, end)
}

/** Returns the start of the next line if only spaces follow on this one, otherwise -1. */
function endOfSoftBreak(bytes: Buffer, start: number): number {
  let at = start
  while (bytes[at] === space || bytes[at] === tab) at++
  if (at >= bytes.length) return bytes.length
  return bytes[at] === cr && bytes[at + 1] === lf ? at + 2 : -1
}
