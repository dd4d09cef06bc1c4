import { type CsvHead, delimiterOf, parseCsvHead } from './csv-head.ts'
import { QuoteWatch } from './csv-quotes.ts'

const headBytes = 64 * 1024
/** Larger files are sent as they are: looking through them would keep a person waiting. */
const lookedThroughBytesMax = 32 * 1024 * 1024

const encodings = {
  'utf-8': 'UTF-8',
  'windows-1252': 'Windows-1252',
  'utf-16le': 'UTF-16',
  'utf-16be': 'UTF-16',
} as const
type Encoding = keyof typeof encodings

export type CsvFile = {
  /** In UTF-8, which is what the service reads. */
  file: File
  /** What it was in. */
  encoding: (typeof encodings)[Encoding]
  head: CsvHead
  /** Where a quote is opened and never closed: the import ends there. */
  openQuoteLine: number | undefined
}

/** Reads what the mapping step needs and converts the file if it has to; a sentence where it cannot be read. */
export async function openCsv(file: File): Promise<CsvFile | string> {
  const start = new Uint8Array(await file.slice(0, headBytes).arrayBuffer())
  const marked = byteOrderOf(start)
  const isLarge = file.size > lookedThroughBytesMax
  if (marked ? isLarge : start.includes(0))
    return `${file.name} is not a text file in UTF-8. Save it as CSV (UTF-8) and choose that.`
  const look = isLarge ? undefined : await lookThrough(file, start, marked ?? 'utf-8')
  const encoding = marked ?? (look?.isWindows ? 'windows-1252' : 'utf-8')
  return {
    file: encoding === 'utf-8' ? file : await toUtf8(file, encoding),
    encoding: encodings[encoding],
    head: parseCsvHead(new TextDecoder(encoding).decode(start)),
    openQuoteLine: look?.openQuoteLine,
  }
}

function byteOrderOf([first, second]: Uint8Array): Encoding | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined
}

/** Once through the file, a piece at a time. */
async function lookThrough(file: File, start: Uint8Array, encoding: Encoding) {
  // What counts for quotes is the same in UTF-8 and in the encodings of Windows.
  const quotes = new QuoteWatch(delimiterOf(new TextDecoder(encoding).decode(start)))
  let letters = 0
  let wrong = 0
  const pieces = file.stream().pipeThrough(new TextDecoderStream(encoding)).getReader()
  for (let piece = await pieces.read(); !piece.done; piece = await pieces.read()) {
    quotes.read(piece.value)
    for (const [found] of piece.value.matchAll(/[\u0080-\uffff]/g)) found === '\ufffd' ? wrong++ : letters++
  }
  // A few bad bytes among letters that are right are a damage, which costs their lines, and no other encoding.
  return { isWindows: wrong > letters, openQuoteLine: quotes.openLine }
}

async function toUtf8(file: File, encoding: Encoding): Promise<File> {
  const bytes = file.stream().pipeThrough(new TextDecoderStream(encoding)).pipeThrough(new TextEncoderStream())
  return new File([await new Response(bytes).blob()], file.name, { type: 'text/csv' })
}
