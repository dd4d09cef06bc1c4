/** What the mapping step needs of a file: its first row, which may name the columns, and some of those that follow. */
export type CsvHead = { firstRow: string[]; nextRows: string[][] }

const nextRowsMax = 3
const delimiters = [',', ';', '\t', '|']

/**
 * The first rows of a CSV file, read as the service reads them. Goes no further than it needs, so the size of the file
 * does not matter.
 */
export function parseCsvHead(text: string): CsvHead {
  const clean = text.replace(/^\uFEFF/, '')
  const [firstRow = [], ...nextRows] = rowsOf(clean, delimiterOf(clean), nextRowsMax + 1)
  return { firstRow, nextRows }
}

/** The one that gives the most cells to the first row with content. */
export function delimiterOf(text: string): string {
  const rows = text.replace(/^(?:[\s,;|]|"")*[\r\n]/, '')
  const counts = delimiters.map((delimiter) => readRow(rows, 0, delimiter).cells.length)
  return delimiters[counts.indexOf(Math.max(...counts))] ?? ','
}

/** Rows without content are left out. */
function rowsOf(text: string, delimiter: string, max: number): string[][] {
  const found: string[][] = []
  for (let at = 0; at < text.length && found.length < max; ) {
    const row = readRow(text, at, delimiter)
    if (row.cells.some((cell) => cell.trim() !== '')) found.push(row.cells)
    at = row.end
  }
  return found
}

/** The cells of the row that starts at `from`, and where the next one starts. */
function readRow(text: string, from: number, delimiter: string): { cells: string[]; end: number } {
  // Spaces before a cell do not count, and quotes count only where they open it.
  const cell = new RegExp(`[^\\S\\r\\n${delimiter}]*(?:"((?:[^"]|"")*)"(?!"))?([^\\r\\n${delimiter}]*)`, 'y')
  cell.lastIndex = from
  const cells: string[] = []
  for (;;) {
    const [, quoted, rest = ''] = cell.exec(text) ?? []
    const inner = quoted?.replaceAll('""', '"')
    // Where something follows the closing quote, the quotes are part of the text.
    cells.push(inner === undefined ? rest : rest === '' ? inner : `"${inner}"${rest}`)
    const end = cell.lastIndex
    if (text[end] !== delimiter) return { cells, end: text.startsWith('\r\n', end) ? end + 2 : end + 1 }
    cell.lastIndex = end + 1
  }
}
