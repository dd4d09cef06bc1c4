import { lineStart, quotedPrintable } from './quoted-printable.ts'

/** A text whose constant parts are encoded already. */
export type FilledText = { encode(boundary: string): EncodedBody; toString(): string }

export const encodeText = (text: string | FilledText, boundary: string): EncodedBody =>
  typeof text === 'string' ? encodeBody(text, boundary) : text.encode(boundary)

/** Values as they are in 7bit: without line breaks and without a boundary. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters on purpose
const plainValue = /^[\u0001-\u0009\u000b\u000c\u000e-\u007f]*$/

type Constant = {
  /** With CRLF. */
  lines: string
  /** The length of its first line. */
  head: number
  /** The length of what follows its last line break; undefined if it has none. */
  tail: number | undefined
}

/** `head` and `tail` belong to lines that may contain values; the whole lines between them are encoded. */
type Quoted = { head: string; lines: string | undefined; tail: string }

/** Constant texts with a value after each of them but the last. */
export class TextForm {
  readonly #texts: readonly string[]
  /** Undefined if the text cannot be sent in 7bit, or if its values may decide that. */
  readonly #constants: readonly Constant[] | undefined
  /** Whether it cannot be sent in 7bit whatever its values are. */
  readonly #isQuoted: boolean
  #quoted: readonly Quoted[] | undefined

  constructor(texts: readonly string[]) {
    this.#texts = texts
    const constants = texts.map((text, index) => plainConstant(text, index === 0))
    this.#constants = constants.every((constant) => constant !== undefined) ? constants : undefined
    this.#isQuoted = texts.some(needsQuoting)
  }

  fill(values: readonly string[]): FilledText {
    return {
      encode: (boundary) =>
        this.#isQuoted
          ? this.#inQuotedPrintable(values)
          : (this.#inSevenBit(values) ?? encodeBody(this.#joined(values), boundary)),
      toString: () => this.#joined(values),
    }
  }

  /** Returns undefined if it may not be possible. */
  #inSevenBit(values: readonly string[]): EncodedBody | undefined {
    if (!this.#constants) return undefined
    let body = ''
    let column = 0
    let index = 0
    for (const { lines, head, tail } of this.#constants) {
      body += lines
      column += head
      if (column > lineLengthMax) return this.#inQuotedPrintable(values)
      if (tail !== undefined) column = tail
      if (index === values.length) break
      const value = values[index++]!
      if (!plainValue.test(value)) return isAscii(value) ? undefined : this.#inQuotedPrintable(values)
      if (value.includes('=_')) return undefined
      // What needs care at the start of a line.
      if (column === 0 && (value[0] === '.' || 'From '.startsWith(value.slice(0, 5)))) return undefined
      body += value
      column += value.length
    }
    return { encoding: '7bit', body }
  }

  #inQuotedPrintable(values: readonly string[]): EncodedBody {
    this.#quoted ??= this.#texts.map(quotedConstant)
    let body = ''
    let open = ''
    for (const [index, { head, lines, tail }] of this.#quoted.entries()) {
      open += head
      if (lines !== undefined) {
        body += quotedLines(open) + lines
        open = tail
      }
      open += values[index] ?? ''
    }
    return { encoding: 'quoted-printable', body: body + quotedPrintable(open) }
  }

  #joined(values: readonly string[]): string {
    let text = ''
    for (const [index, constant] of this.#texts.entries()) text += constant + (values[index] ?? '')
    return text
  }
}

/** Returns undefined if the text cannot be sent in 7bit, or if the value after it may decide whether it can. */
function plainConstant(text: string, isFirst: boolean): Constant | undefined {
  if (!isAscii(text) || /[\0\r]|=_|=$/.test(text)) return undefined
  const first = text.indexOf('\n')
  const tail = text.slice(text.lastIndexOf('\n') + 1)
  const whole = isFirst ? text : first === -1 ? '' : text.slice(first + 1)
  const isOpen = (isFirst || first !== -1) && tail !== '' && 'From '.startsWith(tail)
  if (isOpen || !hasSafeLines(whole)) return undefined
  return {
    lines: text.replaceAll('\n', '\r\n'),
    head: first === -1 ? text.length : first,
    tail: first === -1 ? undefined : tail.length,
  }
}

/** Whether no email with this constant can be sent in 7bit. */
const needsQuoting = (text: string): boolean =>
  !isAscii(text) || text.includes('\0') || text.split(/[\r\n]/).some(({ length }) => length > lineLengthMax)

function quotedConstant(text: string): Quoted {
  const pieces = text.split(lineStart)
  if (pieces.length === 1) return { head: text, lines: undefined, tail: '' }
  const [head] = pieces
  const tail = pieces.at(-1)!
  return { head: head!, lines: quotedLines(text.slice(head!.length, text.length - tail.length)), tail }
}

/** Encodes text before the start of a line. */
function quotedLines(text: string): string {
  const isOpen = text !== '' && !/[\r\n]$/.test(text)
  return isOpen ? `${quotedPrintable(text, true)}=\r\n` : quotedPrintable(text)
}

/** RFC 5322 allows 998 characters; some relays count the line ending. */
const lineLengthMax = 990

export type EncodedBody = { encoding: '7bit' | 'quoted-printable'; body: string }

/** Uses 7bit for ASCII with short lines: most English emails, and a quarter of the time of quoted-printable. */
function encodeBody(text: string, boundary: string): EncodedBody {
  if (isAscii(text) && !text.includes('\0') && !text.includes(boundary)) {
    const lines = text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text
    if (hasSafeLines(lines)) return { encoding: '7bit', body: lines.replaceAll('\n', '\r\n') }
  }
  return { encoding: 'quoted-printable', body: quotedPrintable(text) }
}

const isAscii = (text: string) => Buffer.byteLength(text) === text.length

const dot = 46
const letterF = 70

/** Some old transports corrupt lines that start with a dot or with "From ". Splitting would take four times as long. */
function hasSafeLines(text: string): boolean {
  for (let start = 0; ; ) {
    const first = text.charCodeAt(start)
    if (first === dot || (first === letterF && text.startsWith('From ', start))) return false
    const next = text.indexOf('\n', start)
    if ((next === -1 ? text.length : next) - start > lineLengthMax) return false
    if (next === -1) return true
    start = next + 1
  }
}
