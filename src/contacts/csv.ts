import { CsvError, parse } from 'csv-parse'

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

/** A place in a file from which reading can go on: behind a row. */
export type CsvPlace = { offset: number; line: number }

/** A file that cannot be read, or not from here on. The message is a sentence for its owner. */
export class CsvFault extends Error {}

const rowCharactersMax = 128 * 1024
const delimiters = [',', ';', '\t', '|'] as const
export type Delimiter = (typeof delimiters)[number]

/**
 * Looks at the first bytes of a file: where the text starts, and what separates its cells. The web app shows the columns
 * by the same rules (csv-head.ts); a test holds the two together.
 */
export function inspect(start: Buffer): { offset: number; delimiter: Delimiter } {
  if (start.subarray(0, 4).equals(Buffer.from('PK\x03\x04')))
    throw new CsvFault('This is a spreadsheet, not a CSV file. Save it as CSV (UTF-8) and import that.')
  const isUtf16 = (start[0] === 0xff && start[1] === 0xfe) || (start[0] === 0xfe && start[1] === 0xff)
  if (isUtf16 || start.includes(0))
    throw new CsvFault('This is not a text file in UTF-8. Save it as CSV (UTF-8) and import that.')
  const offset = start.subarray(0, 3).equals(Buffer.from('\ufeff')) ? 3 : 0
  const text = start.subarray(offset, offset + rowCharactersMax).toString()
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

/**
 * The rows of a file from a place on, in portions as its pieces come. Empty rows are left out. Throws CsvFault where
 * reading cannot go on; the rows before have been given then.
 */
export async function* readCsv(
  pieces: AsyncIterable<Buffer>,
  delimiter: Delimiter,
  from: CsvPlace,
): AsyncGenerator<CsvRow[]> {
  let rows: CsvRow[] = []
  let lastLine = from.line
  let doubled = 0
  const parser = parse({
    delimiter,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_quotes: true,
    relax_column_count: true,
    ltrim: true,
    skip_empty_lines: true,
    skip_records_with_empty_values: true,
    max_record_size: rowCharactersMax,
    // Rows are taken here rather than read from the stream: a turn of its machinery for each would cost more than parsing.
    on_record: (cells: string[], info) => {
      let line = from.line + info.lines - doubled
      let inside = 0
      if (line - lastLine > 1) {
        const breaks = cells.flatMap((cell) => cell.match(/\r\n|\r|\n/g) ?? [])
        // The parser takes a line break of two characters inside quotes for two.
        const twofold = breaks.filter((each) => each === '\r\n').length
        doubled += twofold
        line -= twofold
        inside = breaks.length
      }
      lastLine = line
      rows.push({ cells, line: line - inside, lastLine: line, end: from.offset + info.bytes })
      return null
    },
  })
  parser.on('error', () => {})
  parser.resume()

  try {
    for await (const piece of pieces) {
      await step((done) => parser.write(piece, done))
      if (rows.length > 0) yield rows
      rows = []
    }
    await step((done) => parser.end(done))
    if (rows.length > 0) yield rows
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    if (rows.length > 0) yield rows
    throw new CsvFault(faultOf(error, lastLine + 1))
  } finally {
    parser.destroy()
  }
}

const step = (start: (done: (error?: Error | null) => void) => void): Promise<void> =>
  new Promise((resolve, reject) => {
    start((error) => (error ? reject(error) : resolve()))
  })

function faultOf(error: CsvError, line: number): string {
  switch (error.code) {
    case 'CSV_QUOTE_NOT_CLOSED':
    case 'CSV_MAX_RECORD_SIZE':
      return `The row that starts in line ${line} has no end: a quote is opened and not closed, or it is longer than ${rowCharactersMax} characters.`
    default:
      return `The file cannot be read from line ${line} on.`
  }
}
