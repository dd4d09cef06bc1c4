import { scratchBuffer } from '../../platform/runtime/scratch.ts'

// RFC 2045 allows 76 characters per line; the last one is reserved for the `=` of a soft line break.
const lineLengthMax = 75
const scratchFor = scratchBuffer(512 * 1024)

const tab = 9
const lf = 10
const cr = 13
const space = 32
const dot = 46
const equals = 61
const letterF = 70
const from = Buffer.from('From ')
const hexDigits = Buffer.from('0123456789ABCDEF')

const encoded = 0
const plain = 1
const blank = 2
const lineEnd = 3
const tagStart = 4
const kinds = new Uint8Array(256).fill(plain, 33, 127)
kinds[equals] = encoded
kinds[space] = kinds[tab] = blank
kinds[cr] = kinds[lf] = lineEnd
kinds['<'.charCodeAt(0)] = tagStart

/**
 * Where a line starts whatever is before: after a line break, and at the start of tags such as `<td>` or `<p>`, so that HTML
 * on a single line has such places as well. What is between two of them is encoded once for all emails (`text-form.ts`).
 */
export const lineStart = /(?<=\n)|(?=<[dpt])/i
const startsLine = new Uint8Array(256)
for (const letter of 'dptDPT') startsLine[letter.charCodeAt(0)] = 1

/**
 * Encodes text as quoted-printable UTF-8 with CRLF line endings. No line starts with a dot or "From ", which some old
 * transports corrupt, and none ends with a space, which they remove. Lone surrogates become U+FFFD. `continues`: the text
 * goes on with the start of a tag.
 */
export function quotedPrintable(text: string, continues = false): string {
  const bytes = Buffer.from(text)
  // Each byte takes at most three characters, and every 25 bytes three more for a soft line break. Those before tags take
  // three for at least two bytes that are not encoded.
  const out = scratchFor(Math.ceil(bytes.length * 3.13) + 8)
  let end = 0
  let column = 0
  let at = 0
  while (at < bytes.length) {
    const byte = bytes[at]!
    const kind = kinds[byte]
    if (kind === plain && column > 0 && column < lineLengthMax) {
      out[end++] = byte
      column++
      at++
      continue
    }
    if (kind === lineEnd) {
      out[end++] = cr
      out[end++] = lf
      column = 0
      at += byte === cr && bytes[at + 1] === lf ? 2 : 1
      continue
    }
    const isLiteral =
      kind === tagStart ||
      (kind === plain
        ? column > 0 || !needsCareAtStart(bytes, at)
        : kind === blank && !endsLine(bytes, at) && (continues || at + 1 < bytes.length))
    const width = isLiteral ? 1 : 3
    const startsTag = kind === tagStart && column > 0 && startsLine[bytes[at + 1]!] === 1
    if (startsTag || column + width > lineLengthMax) {
      out[end++] = equals
      out[end++] = cr
      out[end++] = lf
      column = 0
      continue
    }
    if (isLiteral) out[end++] = byte
    else {
      out[end++] = equals
      out[end++] = hexDigits[byte >> 4]!
      out[end++] = hexDigits[byte & 15]!
    }
    column += width
    at++
  }
  return out.toString('latin1', 0, end)
}

const needsCareAtStart = (bytes: Buffer, at: number) =>
  bytes[at] === dot || (bytes[at] === letterF && from.every((byte, index) => bytes[at + index] === byte))

const endsLine = (bytes: Buffer, at: number) => kinds[bytes[at + 1]!] === lineEnd
