import { CsvError, parse } from 'csv-parse/sync'

// Reads CSV as it comes out of spreadsheets: any of four delimiters, any line ending, quotes that are not quite right.

export type CsvRow = {
  cells: string[]
  /** Where it starts, counted from 1. */
  line: number
  /** Where it ends. */
  lastLine: number
  /** The place in the file of the first byte behind it. */
  end: number
}

/** A position in a file at which reading can continue: the end of a row. */
export type CsvPlace = { offset: number; line: number }

/** A file that cannot be read, or not from here on. The message is a sentence for its owner. */
export class CsvFault extends Error {}

/** Of the raw file, including quotes and delimiters. */
const rowBytesMax = 128 * 1024
/** How much of a file is read at once: enough for at least one row that is not too long. */
export const sliceBytes = 2 * rowBytesMax
export const cellsMax = 1_000
const [lineFeed, carriageReturn] = [0x0a, 0x0d]
const delimiters = [',', ';', '\t', '|'] as const
export type Delimiter = (typeof delimiters)[number]

/** Returns where the text of a file starts and what separates its cells, judged by its first bytes. */
export function inspect(start: Buffer): { offset: number; delimiter: Delimiter } {
  if (start.subarray(0, 4).equals(Buffer.from('PK\x03\x04')))
    throw new CsvFault('This is a spreadsheet, not a CSV file. Save it as CSV (UTF-8) and import that.')
  const isUtf16 = (start[0] === 0xff && start[1] === 0xfe) || (start[0] === 0xfe && start[1] === 0xff)
  if (isUtf16 || start.includes(0))
    throw new CsvFault('This is not a text file in UTF-8. Save it as CSV (UTF-8) and import that.')
  const offset = start.subarray(0, 3).equals(Buffer.from('\ufeff')) ? 3 : 0
  const text = start.subarray(offset, offset + rowBytesMax).toString()
  // Rows without content are left out later, so the first that has some decides.
  const rows = text.replace(/^(?:[\s,;|]|"")*[\r\n]/, '')
  const counts = delimiters.map((delimiter) => cellsInFirstRow(rows, delimiter))
  return { offset, delimiter: delimiters[counts.indexOf(Math.max(...counts))]! }
}

/** Quotes count where they open a cell, and a delimiter between them does not. */
function cellsInFirstRow(text: string, delimiter: Delimiter): number {
  const cell = new RegExp(`(?:[^\\S\\r\\n${delimiter}]*"(?:[^"]|"")*"(?!"))?[^\\r\\n${delimiter}]*`, 'y')
  for (let cells = 1; ; cells++) {
    cell.exec(text)
    if (text[cell.lastIndex] !== delimiter) return cells
    cell.lastIndex++
  }
}

export type CsvSlice = {
  rows: CsvRow[]
  /** The end of the last complete row. */
  place: CsvPlace
  /** Why reading cannot continue behind `place`; null if it can. */
  fault: string | null
}

/**
 * Reads the complete rows at the start of `bytes`, which begins at `from`; blank rows are skipped. Memory is bounded by the
 * size of the slice: a row that has more than `rowBytesMax` bytes is a fault, however many cells they make.
 *
 * A slice that is not the last must have `sliceBytes`.
 */
export function readSlice(
  bytes: Buffer,
  delimiter: Delimiter,
  from: CsvPlace,
  { isLast, rowsMax }: { isLast: boolean; rowsMax: number },
): CsvSlice {
  const { start, lines } = skipLineBreaks(bytes, isLast)
  const rows: CsvRow[] = []
  let place: CsvPlace = { offset: from.offset + start, line: from.line + lines }
  const base = place
  let doubled = 0
  let error: CsvError | undefined
  try {
    parse(bytes.subarray(start), {
      delimiter,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_quotes: true,
      relax_column_count: true,
      ltrim: true,
      max_record_size: rowBytesMax,
      on_record: (cells: string[], info) => {
        const end = start + info.bytes
        // Its end may be missing, or half of its line break.
        if (!isLast && end === bytes.length) throw new Stop()
        let line = base.line + info.lines - doubled
        let inside = 0
        if (line - place.line > 1) {
          const breaks = cells.flatMap((cell) => cell.match(/\r\n|\r|\n/g) ?? [])
          // The parser takes a line break of two characters inside quotes for two.
          const twofold = breaks.filter((each) => each === '\r\n').length
          doubled += twofold
          line -= twofold
          inside = breaks.length
        }
        if (from.offset + end - place.offset > rowBytesMax) throw new Stop('too long')
        place = { offset: from.offset + end, line }
        if (cells.some((cell) => cell.trim() !== ''))
          rows.push({
            cells: cells.length > cellsMax ? cells.slice(0, cellsMax + 1) : cells,
            line: line - inside,
            lastLine: line,
            end: place.offset,
          })
        if (rows.length === rowsMax) throw new Stop()
        return null
      },
    })
  } catch (thrown) {
    if (thrown instanceof CsvError) error = thrown
    else if (!(thrown instanceof Stop)) throw thrown
    else if (thrown.message === 'too long') return { rows, place, fault: rowWithoutEnd(place.line + 1) }
  }
  const isStuck = !isLast && place.offset === from.offset
  const isOver = error?.code === 'CSV_QUOTE_NOT_CLOSED' ? isLast : error !== undefined
  if (!isStuck && !isOver) return { rows, place, fault: null }
  const isKnown = isStuck || error?.code === 'CSV_QUOTE_NOT_CLOSED' || error?.code === 'CSV_MAX_RECORD_SIZE'
  const line = place.line + 1
  return { rows, place, fault: isKnown ? rowWithoutEnd(line) : `The file cannot be read from line ${line} on.` }
}

/** Ends parsing before the end of the slice. */
class Stop extends Error {}

/** A file of line breaks has as many blank rows as bytes, so these never reach the parser. */
function skipLineBreaks(bytes: Buffer, isLast: boolean): { start: number; lines: number } {
  let start = 0
  let lines = 0
  for (; bytes[start] === lineFeed || bytes[start] === carriageReturn; start++)
    if (bytes[start] === carriageReturn || bytes[start - 1] !== carriageReturn) lines++
  // The other half of this line break may be in the next slice.
  if (!isLast && start === bytes.length && bytes[start - 1] === carriageReturn)
    return { start: start - 1, lines: lines - 1 }
  return { start, lines }
}

const rowWithoutEnd = (line: number): string =>
  `The row that starts in line ${line} has no end: a quote is opened and not closed, or the row is longer than ${rowBytesMax / 1024} KiB.`
