import { SetupFault } from '../../platform/values/errors.ts'

/** The length of a section header. The manifest lists the columns of every table. */
const lineBytesMax = 4 * 1024 * 1024

/** Reads lines and byte counts from a stream. Throws `SetupFault` if the stream ends too early. */
export class ByteReader {
  readonly #source: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]()
  }

  /** Returns the next line without its line feed. */
  async line(): Promise<string> {
    const pieces: Buffer[] = []
    let bytes = 0
    for (;;) {
      const end = this.#rest.indexOf(10)
      const piece = end === -1 ? this.#rest : this.#rest.subarray(0, end)
      pieces.push(piece)
      bytes += piece.length
      if (bytes > lineBytesMax) throw truncated()
      if (end !== -1) {
        this.#rest = this.#rest.subarray(end + 1)
        return Buffer.concat(pieces).toString()
      }
      await this.#fill()
    }
  }

  async exactly(bytes: number): Promise<Buffer> {
    const pieces: Buffer[] = []
    let missing = bytes
    while (missing > 0) {
      if (this.#rest.length === 0) await this.#fill()
      const piece = this.#rest.subarray(0, missing)
      this.#rest = this.#rest.subarray(piece.length)
      pieces.push(piece)
      missing -= piece.length
    }
    return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
  }

  /** Yields the blocks up to the empty one that ends them. Each starts with its length in four bytes. */
  async *blocks(bytesMax: number): AsyncGenerator<Buffer> {
    for (;;) {
      const length = (await this.exactly(4)).readUInt32BE()
      if (length === 0) return
      if (length > bytesMax) throw truncated()
      yield await this.exactly(length)
    }
  }

  async #fill(): Promise<void> {
    const next = await this.#source.next()
    if (next.done) throw truncated()
    this.#rest = next.value
  }
}

/** The bytes of a block: its length and its content. Without content, the end of the blocks. */
export function blockOf(content: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(content.length)
  return Buffer.concat([length, content])
}

export const truncated = () => new SetupFault('The backup is incomplete or damaged. Use another copy of the file.')
