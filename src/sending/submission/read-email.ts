import { type BodyPart, BodyPartFinder, CrlfStream } from '../../content/content.ts'
import type { Pacer } from '../../platform/runtime/pacer.ts'
import { Refusal } from '../../platform/values/errors.ts'
import { type Controls, readControls } from './control-headers.ts'
import type { SubmissionLimits } from './limits.ts'
import { checkFieldCount, type MessageHead, readHead } from './message-head.ts'

/** Where the body of an email goes while it arrives. */
export type BodyWriter = { write(chunk: Buffer): Promise<void> | undefined }

export type ReadEmail = { head: MessageHead; controls: Controls; parts: BodyPart[] }

const headerEnd = '\r\n\r\n'

/**
 * Reads an email as it arrives and passes its body on in pieces. `check` is called as soon as the header is known. Throws
 * `Refusal` if the header is invalid, and whatever `check` throws.
 */
export async function readEmail(
  content: AsyncIterable<Buffer>,
  limits: Pick<SubmissionLimits, 'headerBytesMax' | 'headerFieldsMax' | 'lineBytesMax'>,
  pacer: Pacer,
  check: (head: MessageHead, controls: Controls) => Promise<BodyWriter | undefined>,
): Promise<ReadEmail> {
  const lines = new CrlfStream()
  const lineLimit = new LineLimit(limits.lineBytesMax)
  let header: Buffer = Buffer.from('\r\n')
  let email: { head: MessageHead; controls: Controls } | undefined
  let finder: BodyPartFinder | undefined
  let body: BodyWriter | undefined
  const read = async (chunk: Buffer) => {
    if (pacer.isDue) await pacer.turn()
    lineLimit.check(chunk)
    let rest = chunk
    if (!email) {
      // Starts with a line ending, so that an email without any header is found as well.
      header = Buffer.concat([header, chunk])
      const end = header.indexOf(headerEnd)
      if ((end === -1 ? header.length : end) > limits.headerBytesMax) throw headerTooLarge(limits.headerBytesMax)
      if (end === -1) return checkFieldCount(header, limits)
      rest = header.subarray(end + headerEnd.length)
      const head = readHead(header.toString('latin1', 2, Math.max(2, end)), limits)
      email = { head, controls: readControls(head.fields) }
      header = Buffer.alloc(0)
      finder = new BodyPartFinder(head.fields)
      body = await check(head, email.controls)
    }
    finder!.write(rest)
    await body?.write(rest)
  }
  for await (const chunk of content) await read(lines.write(chunk))
  await read(lines.end())
  // An email without a body may lack the empty line.
  if (!email) await read(Buffer.from(header.subarray(-2).equals(Buffer.from('\r\n')) ? '\r\n' : headerEnd))
  return { ...email!, parts: finder!.end() }
}

const headerTooLarge = (bytesMax: number) =>
  new Refusal('payload_too_large', `The header of the email is larger than ${bytesMax / 1024} KiB.`)

/** Lines are signed as a whole, so a very long one would take much memory. */
class LineLimit {
  readonly #bytesMax: number
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** Throws `Refusal` if a line is longer. Lines within a chunk are shorter than the chunk. */
  check(chunk: Buffer): void {
    const first = chunk.indexOf('\n')
    this.#bytes += first === -1 ? chunk.length : first
    if (this.#bytes > this.#bytesMax)
      throw new Refusal('validation_failed', `The email has a line of more than ${this.#bytesMax / 1024} KiB.`)
    if (first !== -1) this.#bytes = chunk.length - chunk.lastIndexOf('\n') - 1
  }
}
