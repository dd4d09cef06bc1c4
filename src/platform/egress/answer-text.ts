import { StringDecoder } from 'node:string_decoder'

export const answerBytesMax = 16 * 1024

/**
 * Returns the first 16 KiB of a response as text that PostgreSQL can store: without NUL, and with a replacement
 * character for each byte that is not UTF-8. A character cut by the limit is dropped.
 */
export function answerText(chunks: readonly Buffer[]): string {
  const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
  const text = bytes.toString('utf8', 0, answerBytesMax).replaceAll('\0', '\ufffd')
  // Replacement characters take three bytes each, so binary responses grow. ASCII text, the usual case, does not.
  const cut =
    bytes.length > answerBytesMax || (text.length > answerBytesMax / 3 && Buffer.byteLength(text) > answerBytesMax)
  return cut ? new StringDecoder('utf8').write(Buffer.from(text).subarray(0, answerBytesMax)) : text
}
