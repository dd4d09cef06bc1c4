import { Refusal } from '../../platform/values/errors.ts'
import { decodePart } from './decode-part.ts'
import { type HeaderField, parseHeaderFields, parseParameters } from './header-fields.ts'

/** The HTML or the plain text of an email, not an attachment. */
export type BodyPart = {
  kind: 'html' | 'text'
  /** Byte offsets from the start of the body of the email: of the header of the part, and of the end of its content. */
  start: number
  end: number
  /**
   * Its header fields for other content in UTF-8 and quoted-printable, each ending with CRLF. Null if the part is the whole
   * body.
   */
  newHeader: string | null
  /** Whether it is not encoded and has lines that mail servers reject. */
  hasLongLines: boolean
  content: string
}

const contentBytesMax = 512 * 1024
const partHeaderBytesMax = 16 * 1024
const partsMax = 1_000
const depthMax = 20
/** RFC 2046 allows 70 characters. */
const boundaryBytesMax = 200

const newLine = Buffer.from('\r\n')
const delimiter = Buffer.from('\r\n--')
const headerEnd = Buffer.from('\r\n\r\n')

type OpenPart = Omit<BodyPart, 'end' | 'hasLongLines' | 'content'> & {
  contentStart: number
  encoding: string
  charset: string
  chunks: Buffer[]
  bytes: number
}

/**
 * Finds the first HTML and the first plain text while the body of an email arrives. Keeps only these, the start of a line,
 * or the header of a part in memory. Parts beyond the limits above are not found.
 */
export class BodyPartFinder {
  readonly #found: BodyPart[] = []
  /** The boundaries of the multiparts around the current position, the innermost last. */
  readonly #boundaries: string[] = []
  #state: 'content' | 'header' | 'done' = 'content'
  #part: OpenPart | undefined
  /** The bytes that are not processed yet, and their offset. The first two end the empty line before the body. */
  #data: Buffer = newLine
  #offset = -newLine.length
  #parts = 0

  /** `header` is that of the email. */
  constructor(header: readonly HeaderField[]) {
    this.#enter(header, 0, newLine.length)
    if (!this.#part && this.#boundaries.length === 0) this.#state = 'done'
  }

  write(chunk: Buffer): void {
    if (this.#state === 'done') return
    this.#data = Buffer.concat([this.#data, chunk])
    while (this.#step());
  }

  /** Returns false if more data is needed. */
  #step(): boolean {
    switch (this.#state) {
      case 'header':
        return this.#readHeader()
      case 'content':
        return this.#readContent()
      case 'done':
        return false
    }
  }

  /** Returns the parts in the order in which they are in the email. */
  end(): BodyPart[] {
    const length = this.#offset + this.#data.length
    // The last line may be a delimiter without a line ending.
    this.write(newLine)
    if (this.#part) {
      this.#keep(Math.max(0, length - this.#offset))
      this.#close(length)
    }
    return this.#found
  }

  #consume(bytes: number): void {
    this.#data = this.#data.subarray(bytes)
    this.#offset += bytes
  }

  /** The data starts with the end of the delimiter line, so that an empty header is found as well. */
  #readHeader(): boolean {
    const end = this.#data.indexOf(headerEnd)
    if (end === -1 && this.#data.length <= partHeaderBytesMax) return false
    this.#state = 'content'
    if (end === -1 || end > partHeaderBytesMax) return true
    const start = this.#offset + newLine.length
    const header = this.#data.toString('latin1', newLine.length, Math.max(end, newLine.length))
    // Would never be accepted: it is stored as text. The header of the email itself is checked where it is read.
    if (header.includes('\0')) throw new Refusal('validation_failed', 'The header of a part of the email contains NUL.')
    const fields = parseHeaderFields(header)
    // The end of the last line stays, because a delimiter may follow.
    this.#consume(end + newLine.length)
    if (fields) this.#enter(fields, start, newLine.length)
    return true
  }

  /** Decides what to do with a part whose content starts `ahead` of the current position. */
  #enter(header: readonly HeaderField[], start: number, ahead: number): void {
    const textOf = (name: string) => header.find((field) => field.name === name)?.value ?? ''
    const { value: type, parameters } = parseParameters(textOf('content-type') || 'text/plain')
    const boundary = parameters.get('boundary')
    if (type.startsWith('multipart/')) {
      if (boundary && this.#boundaries.length < depthMax) this.#boundaries.push(boundary)
      return
    }
    const kind = type === 'text/html' ? 'html' : type === 'text/plain' ? 'text' : undefined
    const isAttached = parseParameters(textOf('content-disposition')).value === 'attachment'
    if (!kind || isAttached || this.#found.some((part) => part.kind === kind)) return
    const newHeader = this.#boundaries.length === 0 ? null : newHeaderOf(kind, header)
    this.#part = {
      ...{ kind, start, newHeader, contentStart: this.#offset + ahead },
      encoding: parseParameters(textOf('content-transfer-encoding')).value || '7bit',
      charset: parameters.get('charset')?.toLowerCase() || 'us-ascii',
      ...{ chunks: [], bytes: 0 },
    }
  }

  #readContent(): boolean {
    const start = this.#data.indexOf(delimiter)
    if (start === -1) {
      this.#keep(Math.max(0, this.#data.length - delimiter.length + 1))
      return false
    }
    const end = this.#data.indexOf(newLine, start + delimiter.length)
    const isLong = (end === -1 ? this.#data.length : end) - start > boundaryBytesMax
    if (isLong) this.#keep(start + delimiter.length)
    else if (end === -1) {
      this.#keep(start)
      return false
    } else this.#readDelimiter(start, end)
    return true
  }

  #readDelimiter(start: number, end: number): void {
    const first = this.#data[start + delimiter.length]
    // Nearly every line that starts with hyphens, of which an email may have millions.
    if (!this.#boundaries.some((boundary) => boundary.charCodeAt(0) === first)) {
      this.#keep(end)
      return
    }
    const line = this.#data.toString('latin1', start + delimiter.length, end).trimEnd()
    const level = this.#boundaries.findLastIndex((boundary) => line === boundary || line === `${boundary}--`)
    this.#keep(level === -1 ? end : start)
    if (level === -1) return
    this.#close(this.#offset)
    this.#consume(end - start)
    const isLast = line !== this.#boundaries[level]
    this.#boundaries.length = isLast ? level : level + 1
    if (!isLast) this.#state = 'header'
    if (this.#boundaries.length === 0 || this.#found.length === 2 || ++this.#parts > partsMax) this.#state = 'done'
  }

  /** Consumes bytes that are content of the current part. */
  #keep(bytes: number): void {
    const part = this.#part
    if (part) {
      const chunk = this.#data.subarray(Math.max(0, part.contentStart - this.#offset), bytes)
      part.bytes += chunk.length
      // Copied, because the rest of a large chunk would stay in memory as well.
      if (part.bytes > contentBytesMax) this.#part = undefined
      else if (chunk.length > 0) part.chunks.push(Buffer.from(chunk))
    }
    this.#consume(bytes)
  }

  #close(end: number): void {
    const part = this.#part
    this.#part = undefined
    if (!part) return
    const { kind, start, newHeader, chunks, encoding, charset } = part
    const bytes = Buffer.concat(chunks)
    const content = decodePart(bytes, encoding, charset)
    if (content === undefined) return
    const hasLongLines = unencoded.has(encoding) && hasLongLine(bytes)
    this.#found.push({ kind, start, end: Math.max(end, part.contentStart), newHeader, hasLongLines, content })
  }
}

const unencoded = new Set(['7bit', '8bit', 'binary'])
/** RFC 5322, without the line ending. */
const lineBytesMax = 998

/** Looks at each line end that is the last one within the limit. */
function hasLongLine(bytes: Buffer): boolean {
  for (let start = 0; bytes.length - start > lineBytesMax; ) {
    const end = bytes.lastIndexOf(newLine, start + lineBytesMax)
    if (end < start) return true
    start = end + newLine.length
  }
  return false
}

const bodyNames = new Set(['content-type', 'content-transfer-encoding'])
/** Whether a field says how the content is encoded. */
export const describesBody = ({ name }: HeaderField): boolean => bodyNames.has(name)

function newHeaderOf(kind: BodyPart['kind'], header: readonly HeaderField[]): string {
  return [
    ...header.filter((field) => !describesBody(field)).map(({ source }) => source),
    `Content-Type: text/${kind === 'html' ? 'html' : 'plain'}; charset=utf-8`,
    'Content-Transfer-Encoding: quoted-printable',
  ]
    .map((line) => `${line}\r\n`)
    .join('')
}
