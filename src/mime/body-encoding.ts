import { quotedPrintable } from './quoted-printable.ts'

/** RFC 5322 allows 998 characters; some relays count the line ending. */
const lineLengthMax = 990

export type EncodedBody = { encoding: '7bit' | 'quoted-printable'; body: string }

/**
 * Encodes ASCII with lines of bounded length as 7bit, everything else as quoted-printable. 7bit covers most English
 * emails and takes a quarter of the time.
 */
export function encodeBody(text: string, boundary: string): EncodedBody {
  if (isAscii(text) && !text.includes('\0') && !text.includes(boundary)) {
    const lines = text.includes('\r') ? text.split(/\r\n|\r|\n/) : text.split('\n')
    if (lines.every(isSafe)) return { encoding: '7bit', body: lines.join('\r\n') }
  }
  return { encoding: 'quoted-printable', body: quotedPrintable(text) }
}

const isAscii = (text: string) => Buffer.byteLength(text) === text.length

/** Some old transports corrupt lines that start with a dot or with "From ". */
const isSafe = (line: string) => line.length <= lineLengthMax && line[0] !== '.' && !line.startsWith('From ')
