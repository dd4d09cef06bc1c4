import { CsvError, parse } from 'csv-parse/sync'

// Parses CSV files as spreadsheets export them: any of four delimiters, any line ending, and slightly malformed quotes.

export type CsvRow = {
  cells: string[]
  /** The line it starts on, counted from 1. */
  line: number
  /** The line it ends on. */
  lastLine: number
  /** The offset of the first byte after it. */
  end: number
}

/** A position in a file at which reading can continue: the end of a row. */
export type CsvPosition = { offset: number; line: number }

/** The file cannot be read, or not beyond this point. The message is shown to the user. */
export class CsvFault extends Error {}

/** In the raw file, including quotes and delimiters. */
const rowBytesMax = 128 * 1024
/** How much of a file is read at once: enough for at least one row of the maximum length. */
export const sliceBytes = 2 * rowBytesMax
export const cellsMax = 1_000
const [lineFeed, carriageReturn] = [0x0a, 0x0d]
const delimiters = [',', ';', '\t', '|'] as const
export type Delimiter = (typeof delimiters)[number]

/**
 * Returns where the text of a file starts and its delimiter, judging by the first bytes. Throws `CsvFault` if it is not
 * a text file in UTF-8.
 */
export function inspect(start: Buffer): { offset: number; delimiter: Delimiter } {
  if (start.subarray(0, 4).equals(Buffer.from('PK\x03\x04')))
    throw new CsvFault('This is a spreadsheet, not a CSV file. Save it as CSV (UTF-8) and import that file.')
  const isUtf16 = (start[0] === 0xff && start[1] === 0xfe) || (start[0] === 0xfe && start[1] === 0xff)
  if (isUtf16 || start.includes(0))
    throw new CsvFault('This file is not encoded in UTF-8. Save it as CSV (UTF-8) and import that file.')
  const offset = start.subarray(0, 3).equals(Buffer.from('\ufeff')) ? 3 : 0
  const text = start.subarray(offset, offset + rowBytesMax).toString()
  // Blank rows are skipped later, so the first row with content decides.
  const rows = text.replace(/^(?:[\s,;|]|"")*[\r\n]/, '')
  const counts = delimiters.map((delimiter) => cellsInFirstRow(rows, delimiter))
  return { offset, delimiter: delimiters[counts.indexOf(Math.max(...counts))]! }
}

/** Quotes count only at the start of a cell, and delimiters between them are ignored. */
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
  position: CsvPosition
  /** Why reading cannot continue after `position`; null if it can. */
  fault: string | null
}

/**
 * Reads the complete rows at the start of `bytes`, which start at `from`, and skips blank rows. Memory is bounded by
 * the size of the slice: a row of more than `rowBytesMax` bytes is a fault, regardless of its number of cells. A slice
 * that is not the last one must have `sliceBytes` bytes.
 */
export function readSlice(
  bytes: Buffer,
  delimiter: Delimiter,
  from: CsvPosition,
  { isLast, rowsMax }: { isLast: boolean; rowsMax: number },
): CsvSlice {
  const { start, lines } = skipLineBreaks(bytes, isLast)
  const rows: CsvRow[] = []
  let position: CsvPosition = { offset: from.offset + start, line: from.line + lines }
  const base = position
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
        // The row, or its line break, may be incomplete.
        if (!isLast && end === bytes.length) throw new Stop()
        let line = base.line + info.lines - doubled
        let inside = 0
        if (line - position.line > 1) {
          const breaks = cells.flatMap((cell) => cell.match(/\r\n|\r|\n/g) ?? [])
          // The parser counts a CRLF inside quotes as two lines.
          const twofold = breaks.filter((each) => each === '\r\n').length
          doubled += twofold
          line -= twofold
          inside = breaks.length
        }
        if (from.offset + end - position.offset > rowBytesMax) throw new Stop('too long')
        position = { offset: from.offset + end, line }
        if (cells.some((cell) => cell.trim() !== ''))
          rows.push({
            cells: cells.length > cellsMax ? cells.slice(0, cellsMax + 1) : cells,
            line: line - inside,
            lastLine: line,
            end: position.offset,
          })
        if (rows.length === rowsMax) throw new Stop()
        return null
      },
    })
  } catch (thrown) {
    if (thrown instanceof CsvError) error = thrown
    else if (!(thrown instanceof Stop)) throw thrown
    else if (thrown.message === 'too long') return { rows, position, fault: rowWithoutEnd(position.line + 1) }
  }
  const isStuck = !isLast && position.offset === from.offset
  const isOver = error?.code === 'CSV_QUOTE_NOT_CLOSED' ? isLast : error !== undefined
  if (!isStuck && !isOver) return { rows, position, fault: null }
  const isKnown = isStuck || error?.code === 'CSV_QUOTE_NOT_CLOSED' || error?.code === 'CSV_MAX_RECORD_SIZE'
  const line = position.line + 1
  return { rows, position, fault: isKnown ? rowWithoutEnd(line) : `The file cannot be read from line ${line}.` }
}

/** Thrown to stop the parser before the end of the slice. */
class Stop extends Error {}

/** Keeps leading line breaks from the parser, since a file of line breaks has as many blank rows as bytes. */
function skipLineBreaks(bytes: Buffer, isLast: boolean): { start: number; lines: number } {
  let start = 0
  let lines = 0
  for (; bytes[start] === lineFeed || bytes[start] === carriageReturn; start++)
    if (bytes[start] === carriageReturn || bytes[start - 1] !== carriageReturn) lines++
  // The second half of this line break may be in the next slice.
  if (!isLast && start === bytes.length && bytes[start - 1] === carriageReturn)
    return { start: start - 1, lines: lines - 1 }
  return { start, lines }
}

const rowWithoutEnd = (line: number): string =>
  `The row on line ${line} does not end: a quote is not closed, or the row is longer than ${rowBytesMax / 1024} KiB.`
