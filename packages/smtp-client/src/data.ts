import { isAscii } from 'node:buffer'
import type { Mail } from './transport.ts'
import type { WireEncoding } from './wire.ts'

/**
 * A message as sent over the wire: CRLF line endings, leading dots doubled, terminated by a line with a single dot. A
 * large one comes in pieces.
 */
export type WireData = { bytes: number; ascii: boolean } & (
  | { text: string; encoding: WireEncoding }
  | { pieces: () => AsyncIterable<string> }
)

/** `bytes` is the size before dots are doubled, as the SIZE extension counts it. */
export function toWireData(raw: Mail['raw']): WireData {
  if (typeof raw === 'object' && 'chunks' in raw)
    return { pieces: () => toWirePieces(raw.chunks()), bytes: raw.size, ascii: raw.isAscii }
  if (typeof raw === 'object' && 'lines' in raw)
    return { text: `${raw.lines}.\r\n`, encoding: 'latin1', bytes: raw.lines.length, ascii: true }
  // Searching a string of one-byte characters is several times as fast as searching a Buffer.
  let lines = withCrlf(typeof raw === 'string' ? raw : raw.toString('latin1'))
  if (!lines.endsWith('\r\n')) lines += '\r\n'
  const bytes = typeof raw === 'string' ? Buffer.byteLength(lines) : lines.length
  const ascii = typeof raw === 'string' ? bytes === lines.length : isAscii(raw)
  const encoding = typeof raw === 'string' && !ascii ? 'utf8' : 'latin1'
  return { text: `${doubleDots(lines)}.\r\n`, encoding, bytes, ascii }
}

/** The pieces are one-byte strings, to be written as latin1. */
async function* toWirePieces(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let atLineStart = true
  /** A CR at the end of a chunk; its LF may be the first byte of the next. */
  let cr = ''
  for await (const chunk of chunks) {
    const text = cr + chunk.toString('latin1')
    cr = text.endsWith('\r') ? '\r' : ''
    const lines = withCrlf(cr === '' ? text : text.slice(0, -1))
    if (lines === '') continue
    yield doubleDots(lines, atLineStart)
    atLineStart = lines.endsWith('\n')
  }
  yield cr !== '' || !atLineStart ? '\r\n.\r\n' : '.\r\n'
}

function doubleDots(lines: string, atLineStart = true): string {
  const inner = lines.includes('\n.') ? lines.replaceAll('\n.', '\n..') : lines
  return atLineStart && inner.startsWith('.') ? `.${inner}` : inner
}

/**
 * Converts bare CR and LF to CRLF. SMTP forbids both within an email, and servers that accept them as line endings are
 * vulnerable to SMTP smuggling.
 */
export function withCrlf(text: string): string {
  return hasOnlyCrlf(text) ? text : text.replace(/\r\n|\r|\n/g, '\r\n')
}

// Takes 3 µs for 4 KB, compared with 20 µs for a regular expression.
function hasOnlyCrlf(text: string): boolean {
  for (let at = 0; ; ) {
    const cr = text.indexOf('\r', at)
    const lf = text.indexOf('\n', at)
    if (cr < 0 && lf < 0) return true
    if (lf !== cr + 1 || cr < 0) return false
    at = lf + 1
  }
}

// RFC 5321 allows 64 + 1 + 255 bytes.
const addressLengthMax = 320

// No control characters, angle brackets or unquoted spaces, which could inject a command or parameter.
const address = /^(?:"(?:[^"\\\p{Cc}<>]|\\[^\p{Cc}<>])*"|[^\s\p{Cc}<>()",:;\\@[\]]+)@[^\s\p{Cc}<>()",;\\@]+$/u

export function isMailable(text: string): boolean {
  return text.length <= addressLengthMax && address.test(text)
}

export const needsUtf8 = (text: string) => Buffer.byteLength(text) !== text.length
