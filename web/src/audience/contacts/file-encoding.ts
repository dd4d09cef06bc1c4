/** Larger files are sent unchanged, because detecting their encoding would take too long. */
const convertedBytesMax = 32 * 1024 * 1024

const encodings = {
  'utf-8': 'UTF-8',
  'windows-1252': 'Windows-1252',
  'utf-16le': 'UTF-16',
  'utf-16be': 'UTF-16',
} as const
type Encoding = keyof typeof encodings

/** `encoding` is the original one; `file` is in UTF-8 unless it is too large to convert. */
export type EncodedFile = { file: File; encoding: (typeof encodings)[Encoding] }

/** Converts a text file to UTF-8, the only encoding that Waxwing imports. */
export async function toUtf8(file: File): Promise<EncodedFile> {
  const encoding = file.size > convertedBytesMax ? 'utf-8' : await detectEncoding(file)
  if (encoding === 'utf-8') return { file, encoding: encodings[encoding] }
  const bytes = file.stream().pipeThrough(new TextDecoderStream(encoding)).pipeThrough(new TextEncoderStream())
  const converted = new File([await new Response(bytes).blob()], file.name, { type: 'text/csv' })
  return { file: converted, encoding: encodings[encoding] }
}

async function detectEncoding(file: File): Promise<Encoding> {
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer())
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  let letters = 0
  let wrong = 0
  const pieces = file.stream().pipeThrough(new TextDecoderStream('utf-8')).getReader()
  for (let piece = await pieces.read(); !piece.done; piece = await pieces.read())
    for (const [found] of piece.value.matchAll(/[\u0080-\uffff]/g)) found === '\ufffd' ? wrong++ : letters++
  // A few invalid bytes among valid letters are damage, which costs their rows, and not another encoding.
  return wrong > letters ? 'windows-1252' : 'utf-8'
}
