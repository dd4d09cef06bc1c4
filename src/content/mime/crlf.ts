const cr = 13
const lf = 10
const lineEnd = Buffer.from('\r\n')

/**
 * Converts bare CR and LF to CRLF in an email that arrives in chunks. SMTP allows only CRLF; servers that disagree about
 * where a line ends are vulnerable to SMTP smuggling. Chunks without bare ones are not copied.
 */
export class CrlfStream {
  /** The last chunk ended with a CR, which is held back. */
  #hasCr = false

  write(chunk: Buffer): Buffer {
    const bytes = this.#hasCr ? Buffer.concat([lineEnd.subarray(0, 1), chunk]) : chunk
    this.#hasCr = bytes.at(-1) === cr
    const complete = this.#hasCr ? bytes.subarray(0, -1) : bytes
    return hasOnlyCrlf(complete) ? complete : withCrlf(complete)
  }

  end(): Buffer {
    const rest = this.#hasCr ? lineEnd : lineEnd.subarray(0, 0)
    this.#hasCr = false
    return rest
  }
}

function hasOnlyCrlf(bytes: Buffer): boolean {
  for (let at = 0; ; ) {
    const nextCr = bytes.indexOf(cr, at)
    const nextLf = bytes.indexOf(lf, at)
    if (nextCr < 0 && nextLf < 0) return true
    if (nextCr < 0 || nextLf !== nextCr + 1) return false
    at = nextLf + 1
  }
}

function withCrlf(bytes: Buffer): Buffer {
  // Each byte becomes two at most.
  const out = Buffer.allocUnsafe(bytes.length * 2)
  let end = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (byte !== cr && byte !== lf) {
      out[end++] = byte
      continue
    }
    out[end++] = cr
    out[end++] = lf
    if (byte === cr && bytes[at + 1] === lf) at++
  }
  return Buffer.from(out.subarray(0, end))
}
