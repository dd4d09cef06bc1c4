import type { FileId } from '../values/ids.ts'

/** The bytes of a stored file from `start` to `end`, as they are (7bit: only ASCII), or in base64 with lines of 76 characters. */
export type FilePiece = { fileId: FileId; start: number; end: number; encoding: '7bit' | '8bit' | 'base64' }

/** An email too large for a string is a sequence of texts and stored files. */
export type Piece = string | FilePiece

const lineBytes = 57
const lineEndBytes = 2

export function bytesOf(piece: Piece): number {
  if (typeof piece === 'string') return Buffer.byteLength(piece)
  const bytes = piece.end - piece.start
  if (piece.encoding !== 'base64') return bytes
  return Math.ceil(bytes / 3) * 4 + Math.ceil(bytes / lineBytes) * lineEndBytes
}

/** Each line ends with CRLF. The result of several parts is that of the whole if all but the last have whole lines. */
export function base64Lines(bytes: Buffer): string {
  const text = bytes.toString('base64')
  return text === '' ? '' : `${text.replace(/.{76}(?=.)/g, '$&\r\n')}\r\n`
}
