import type { FileId } from '../../platform/values/ids.ts'

/** The bytes of a stored file from `start` to `end`, as they are (7bit: only ASCII), or in base64 with lines of 76 characters. */
export type FilePiece = { fileId: FileId; start: number; end: number; encoding: '7bit' | '8bit' | 'base64' }

/** An email too large for a string is a sequence of texts and stored files. */
export type Piece = string | FilePiece

const lineBytes = 57
const lineLength = 76
const lineEndBytes = 2

export function bytesOf(piece: Piece): number {
  if (typeof piece === 'string') return Buffer.byteLength(piece)
  const bytes = piece.end - piece.start
  return piece.encoding === 'base64' ? encodedBytes(bytes) : bytes
}

const encodedBytes = (bytes: number) => Math.ceil(bytes / 3) * 4 + Math.ceil(bytes / lineBytes) * lineEndBytes

/** Lines that are encoded at a time: short texts are released earlier than long ones. */
const linesAtOnce = 64

/** Each line ends with CRLF. The result of several parts is that of the whole if all but the last have whole lines. */
export function base64Lines(bytes: Buffer): Buffer {
  const lines = Buffer.allocUnsafe(encodedBytes(bytes.length))
  let written = 0
  for (let start = 0; start < bytes.length; start += linesAtOnce * lineBytes) {
    const text = bytes.toString('base64', start, start + linesAtOnce * lineBytes)
    for (let at = 0; at < text.length; at += lineLength)
      written += lines.write(`${text.slice(at, at + lineLength)}\r\n`, written, 'latin1')
  }
  return lines
}
