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

/** A text, or a part of a value whose length is known. */
type Part = string | { index: number; from: number; to: number }

/**
 * What is between two values of unknown lengths. `head` and `tail` belong to the lines of these values; the whole lines
 * between them are encoded. `index`: of the value that follows.
 */
type Quoted = { head: readonly Part[]; lines: readonly Part[] | undefined; tail: readonly Part[]; index: number }

/** Constant texts with a value after each of them but the last. */
export class TextForm {
  readonly #texts: readonly string[]
  readonly #lengths: readonly (number | undefined)[]
  /** Undefined if the text cannot be sent in 7bit, or if its values may decide that. */
  readonly #constants: readonly Constant[] | undefined
  /** Whether it cannot be sent in 7bit whatever its values are. */
  readonly #isQuoted: boolean
  #quoted: readonly Quoted[] | undefined

  /** `lengths`: those of values that always consist of so many letters, digits, hyphens and underscores, such as tokens. */
  constructor(texts: readonly string[], lengths: readonly (number | undefined)[] = []) {
    this.#texts = texts
    this.#lengths = lengths
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
    this.#quoted ??= stretchesOf(this.#texts, this.#lengths).map(quotedStretch)
    let body = ''
    let open = ''
    for (const { head, lines, tail, index } of this.#quoted) {
      open += filled(head, values)
      if (lines !== undefined) {
        body += quotedLines(open) + filled(lines, values)
        open = filled(tail, values)
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

/** Texts up to a value of unknown length, with the places of the other values, where `x` is repeated. */
type Stretch = { text: string; places: { index: number; from: number; to: number }[]; index: number }

function stretchesOf(texts: readonly string[], lengths: readonly (number | undefined)[]): Stretch[] {
  const stretches: Stretch[] = []
  let places: Stretch['places'] = []
  let text = ''
  for (const [index, constant] of texts.entries()) {
    text += constant
    const length = lengths[index]
    if (length !== undefined && index < texts.length - 1) {
      places.push({ index, from: text.length, to: text.length + length })
      text += 'x'.repeat(length)
    } else {
      stretches.push({ text, places, index })
      text = ''
      places = []
    }
  }
  return stretches
}

function quotedStretch({ text, places, index }: Stretch): Quoted {
  const pieces = text.split(lineStart)
  const [head] = pieces
  const tail = pieces.at(-1)!
  const [start, end] = [head!.length, text.length - tail.length]
  const partsOf = (from: number, to: number) => split(text.slice(from, to), within(places, from, to))
  if (pieces.length === 1) return { head: partsOf(0, text.length), lines: undefined, tail: [], index }
  const lines = text.slice(start, end)
  const encoded = quotedLines(lines)
  return {
    head: partsOf(0, start),
    lines: split(encoded, inEncoded(lines, encoded, within(places, start, end))),
    tail: partsOf(end, text.length),
    index,
  }
}

type Place = Part & object & { at: number }

/** Places in a part of the text. */
const within = (places: Stretch['places'], start: number, end: number): Place[] =>
  places
    .filter(({ from }) => from >= start && from < end)
    .map(({ index, from, to }) => ({ index, at: from - start, from: 0, to: to - from }))

/** Places in the encoded text: soft line breaks divide them. */
function inEncoded(text: string, encoded: string, places: readonly Place[]): Place[] {
  const found: Place[] = []
  let at = 0
  let byte = 0
  for (const { index, at: character, to } of places) {
    const start = Buffer.byteLength(text.slice(0, character).replace(/\r\n?|\n/g, '\r\n'))
    for (let from = 0; from < to; ) {
      if (encoded.startsWith('=\r\n', at)) at += 3
      else if (byte < start) {
        at += encoded[at] === '=' ? 3 : 1
        byte++
      } else {
        const soft = encoded.indexOf('=', at)
        const length = Math.min(to - from, soft === -1 ? to : soft - at)
        found.push({ index, at, from, to: from + length })
        from += length
        at += length
        byte += length
      }
    }
  }
  return found
}

/** Divides a text at places, which it loses. */
function split(text: string, places: readonly Place[]): Part[] {
  const parts: Part[] = []
  let copied = 0
  for (const { at, ...part } of places) {
    parts.push(text.slice(copied, at), part)
    copied = at + part.to - part.from
  }
  return [...parts, text.slice(copied)]
}

function filled(parts: readonly Part[], values: readonly string[]): string {
  let text = ''
  for (const part of parts) text += typeof part === 'string' ? part : values[part.index]!.slice(part.from, part.to)
  return text
}

/** Encodes text before the start of a line. */
function quotedLines(text: string): string {
  if (text === '') return ''
  const isOpen = !/[\r\n]$/.test(text)
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
