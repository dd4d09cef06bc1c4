import { StringDecoder } from 'node:string_decoder'

export const answerBytesMax = 16 * 1024

/**
 * The first 16 KiB of an answer as text that PostgreSQL can store: no NUL, and a replacement character for each byte that
 * is not UTF-8. A character cut in two by the limit is left out.
 */
export function answerText(chunks: readonly Buffer[]): string {
  const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
  const text = bytes.toString('utf8', 0, answerBytesMax).replaceAll('\0', '\ufffd')
  // Replacement characters take three bytes each, so binary answers grow. Plain ASCII, the usual case, does not.
  const cut =
    bytes.length > answerBytesMax || (text.length > answerBytesMax / 3 && Buffer.byteLength(text) > answerBytesMax)
  return cut ? new StringDecoder('utf8').write(Buffer.from(text).subarray(0, answerBytesMax)) : text
}
