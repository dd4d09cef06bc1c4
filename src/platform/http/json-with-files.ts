import { isUtf8 } from 'node:buffer'
import { Refusal } from '../values/errors.ts'

/** Receives the decoded bytes of a file. `write` returns a promise if the next bytes have to wait. */
export type FileSink = { write(bytes: Buffer): Promise<void> | undefined; end(problem: string | null): Promise<void> }

export type JsonWithFilesOptions = {
  /** Whether the value at this path is a file. Elements of arrays have the name `[]`. */
  isFile: (path: readonly string[]) => boolean
  openFile: () => FileSink
  /** Of everything but the files. */
  textBytesMax: number
  /** Objects, arrays and other values: parsing takes time for each. */
  valuesMax: number
  depthMax: number
}

type Frame = { isArray: boolean; expectsKey: boolean }

const quote = 0x22
const backslash = 0x5c
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d] as const
const [comma, colon, zero, nine, space] = [0x2c, 0x3a, 0x30, 0x39, 0x20] as const
const keyBytesMax = 256
const notBase64 = 'must be base64'
const notBytes = 'must be base64, or an array of bytes'

/**
 * Reads JSON as it arrives, without keeping the files in it: strings in base64, or arrays of bytes, at certain paths. They
 * are decoded and written to sinks, and replaced by their number ("0", "1", …) in the text that `end` returns. Everything
 * else stays as it is, so that parsing the text finds all other errors.
 */
export class JsonWithFiles {
  readonly #options: JsonWithFilesOptions
  readonly #frames: Frame[] = []
  /** The key at which the reader is, in each frame. */
  readonly #path: string[] = []
  readonly #text: Buffer[] = []
  #textBytes = 0
  #values = 0
  #files = 0
  /** Where the reader is: outside of strings, in a string of the text, in a key, or in a file. */
  #state: 'outside' | 'string' | 'key' | 'base64' | 'bytes' = 'outside'
  #isEscaped = false
  #key: Buffer[] = []
  #file: FileReader | undefined

  constructor(options: JsonWithFilesOptions) {
    this.#options = options
  }

  /** Throws `Refusal` if a limit is exceeded. */
  async write(part: Buffer): Promise<void> {
    let at = 0
    let copied = 0
    const copyTo = (end: number) => {
      if (end > copied) this.#copy(part.subarray(copied, end))
      copied = end
    }
    while (at < part.length) {
      switch (this.#state) {
        case 'outside': {
          const byte = part[at]!
          at++
          if (this.#step(byte) === 'file') {
            // The quote or bracket that starts the file is replaced by the number in quotes.
            copyTo(at - 1)
            this.#copy(Buffer.from(`"${this.#files++}"`))
            this.#state = byte === quote ? 'base64' : 'bytes'
            this.#file = new FileReader(this.#options.openFile())
            copied = at
          }
          break
        }
        case 'string':
        case 'key': {
          const end = this.#endOfString(part, at)
          if (this.#state === 'key') this.#key.push(part.subarray(at, end))
          at = end
          break
        }
        case 'base64': {
          const end = this.#endOfString(part, at)
          const isComplete = (this.#state as string) === 'outside'
          const wait = this.#file!.addBase64(part.subarray(at, isComplete ? end - 1 : end))
          if (wait) await wait
          if (isComplete) await this.#endFile()
          at = end
          copied = at
          break
        }
        case 'bytes': {
          const close = part.indexOf(closeBracket, at)
          const end = close === -1 ? part.length : close
          const wait = this.#file!.addNumbers(part.subarray(at, end))
          if (wait) await wait
          at = end
          if (close !== -1) {
            at++
            this.#state = 'outside'
            await this.#endFile()
          }
          copied = at
          break
        }
      }
    }
    copyTo(part.length)
  }

  /** Returns the text. Throws `Refusal` if it cannot be JSON. */
  end(): string {
    if (this.#state !== 'outside' || this.#frames.length > 0) throw invalidJson()
    const text = Buffer.concat(this.#text)
    if (!isUtf8(text)) throw new Refusal('invalid_json', 'The body is not valid JSON: it is not UTF-8.')
    return text.toString()
  }

  async #endFile(): Promise<void> {
    await this.#file!.end()
    this.#file = undefined
  }

  #copy(bytes: Buffer): void {
    this.#textBytes += bytes.length
    if (this.#textBytes > this.#options.textBytesMax)
      throw new Refusal('payload_too_large', 'The body without its attachments exceeds the size limit.')
    // Copied, because the rest of the part may be a file.
    this.#text.push(Buffer.from(bytes))
  }

  /** Handles a byte outside of strings. Returns 'file' if a file starts with it. */
  #step(byte: number): 'file' | undefined {
    const frame = this.#frames.at(-1)
    switch (byte) {
      case quote:
        if (frame?.expectsKey) {
          this.#state = 'key'
          this.#key = []
          return undefined
        }
        if (this.#isFile()) return 'file'
        this.#state = 'string'
        return this.#count()
      case openBracket:
        if (this.#isFile()) return 'file'
        this.#push({ isArray: true, expectsKey: false }, '[]')
        return undefined
      case openBrace:
        this.#push({ isArray: false, expectsKey: true }, '')
        return undefined
      case closeBrace:
      case closeBracket:
        this.#frames.pop()
        this.#path.pop()
        return undefined
      case comma:
        if (frame && !frame.isArray) frame.expectsKey = true
        return this.#count()
      case colon:
        if (frame) frame.expectsKey = false
        return undefined
    }
    return undefined
  }

  #isFile(): boolean {
    return this.#path.length > 0 && this.#options.isFile(this.#path)
  }

  #push(frame: Frame, key: string): void {
    if (this.#frames.length >= this.#options.depthMax)
      throw new Refusal('validation_failed', `The body must be nested at most ${this.#options.depthMax} levels deep.`)
    this.#frames.push(frame)
    this.#path.push(key)
    this.#count()
  }

  #count(): undefined {
    if (++this.#values > this.#options.valuesMax)
      throw new Refusal('payload_too_large', `The body must have at most ${this.#options.valuesMax} values.`)
  }

  /** Returns the position after the string, if it ends in this part. */
  #endOfString(part: Buffer, start: number): number {
    let at = start
    if (this.#isEscaped) {
      this.#isEscaped = false
      at++
    }
    for (;;) {
      const end = part.indexOf(quote, at)
      const limit = end === -1 ? part.length : end
      // An odd number of backslashes before the quote, of which those before `at` are complete, escapes it.
      let backslashes = 0
      while (limit - backslashes > at && part[limit - backslashes - 1] === backslash) backslashes++
      const isEscaped = backslashes % 2 === 1
      if (end === -1) {
        this.#isEscaped = isEscaped
        return part.length
      }
      if (!isEscaped) {
        this.#leaveString(part.subarray(start, end))
        return end + 1
      }
      at = end + 1
    }
  }

  #leaveString(rest: Buffer): void {
    if (this.#state === 'key') {
      this.#path[this.#path.length - 1] = keyOf(this.#key.length === 0 ? rest : Buffer.concat([...this.#key, rest]))
      this.#frames.at(-1)!.expectsKey = false
    }
    this.#key = []
    this.#state = 'outside'
  }
}

/** A key may be escaped, as in "\u0063ontent". One that is too long is none of those that matter. */
function keyOf(bytes: Buffer): string {
  const text = bytes.subarray(0, keyBytesMax + 1).toString()
  if (text.length > keyBytesMax || !text.includes('\\')) return text
  try {
    return JSON.parse(`"${text}"`) as string
  } catch {
    throw invalidJson()
  }
}

const invalidJson = () => new Refusal('invalid_json', 'The body is not valid JSON.')

const escapes = /\\(?:u[\da-fA-F]{4}|["\\/bfnrt])/g
/** An escape sequence whose end has not arrived yet. */
const openEscape = /\\(?:u[\da-fA-F]{0,3})?$/
const base64Text = /^[\w+/-]*={0,2}$/

/** Decodes a file in parts of any length. */
class FileReader {
  readonly #sink: FileSink
  /** Base64 that is not decoded yet: less than four characters, or an incomplete escape sequence. */
  #rest = ''
  #isPadded = false
  #number = -1
  #expectsNumber = true
  #numbers = 0
  #problem: string | null = null

  constructor(sink: FileSink) {
    this.#sink = sink
  }

  addBase64(part: Buffer): Promise<void> | undefined {
    if (this.#problem !== null || part.length === 0) return undefined
    let text = this.#rest + part.toString('latin1')
    let rest = ''
    if (text.includes('\\')) {
      rest = openEscape.exec(text)?.[0] ?? ''
      text = text.slice(0, text.length - rest.length).replace(escapes, (sequence) => JSON.parse(`"${sequence}"`))
    }
    const whole = text.length - (text.length % 4)
    const bytes = Buffer.from(text.slice(0, whole), 'base64')
    // The decoder skips what is not base64, so that the result is shorter.
    if (bytes.length === (whole / 4) * 3 && !this.#isPadded) {
      this.#rest = text.slice(whole) + rest
      return bytes.length > 0 ? this.#sink.write(bytes) : undefined
    }
    // In JSON, control characters have to be escaped.
    if (part.some((byte) => byte < space)) throw invalidJson()
    return this.#addLines(text, rest)
  }

  /** Base64 with line breaks or padding. */
  #addLines(text: string, rest: string): Promise<void> | undefined {
    const characters = text.replace(/[ \r\n\t]/g, '')
    if (!base64Text.test(characters) || (this.#isPadded && characters !== '')) return this.#fail(notBase64)
    const whole = characters.length - (characters.length % 4)
    this.#isPadded ||= characters.slice(0, whole).endsWith('=')
    this.#rest = characters.slice(whole) + rest
    const bytes = Buffer.from(characters.slice(0, whole), 'base64')
    return bytes.length > 0 ? this.#sink.write(bytes) : undefined
  }

  addNumbers(part: Buffer): Promise<void> | undefined {
    if (this.#problem !== null) return undefined
    const bytes = Buffer.allocUnsafe(part.length)
    let count = 0
    for (const byte of part) {
      if (byte >= zero && byte <= nine) {
        if (!this.#expectsNumber) return this.#fail(notBytes)
        // No leading zeros, as in JSON.
        if (this.#number === 0) return this.#fail(notBytes)
        this.#number = Math.max(this.#number, 0) * 10 + byte - zero
        if (this.#number > 255) return this.#fail(notBytes)
      } else if (byte === comma) {
        if (this.#number === -1) return this.#fail(notBytes)
        bytes[count++] = this.#number
        this.#numbers++
        this.#number = -1
        this.#expectsNumber = true
      } else if (byte === space || byte === 0x0a || byte === 0x0d || byte === 0x09) {
        if (this.#number !== -1) this.#expectsNumber = false
      } else return this.#fail(notBytes)
    }
    return count > 0 ? this.#sink.write(bytes.subarray(0, count)) : undefined
  }

  #fail(problem: string): undefined {
    this.#problem = problem
  }

  async end(): Promise<void> {
    if (this.#number !== -1) await this.#sink.write(Buffer.from([this.#number]))
    else if (this.#numbers > 0) this.#problem ??= notBytes
    await this.#endBase64()
    await this.#sink.end(this.#problem)
  }

  /** The last characters may lack their padding. */
  async #endBase64(): Promise<void> {
    const rest = this.#rest.replace(/[ \r\n\t]/g, '')
    if (this.#problem !== null || rest === '') return
    const bytes = Buffer.from(rest, 'base64')
    if (!/^[\w+/-]{2,3}=?=?$/.test(rest) || rest.length > 4) this.#problem = notBase64
    else await this.#sink.write(bytes)
  }
}
