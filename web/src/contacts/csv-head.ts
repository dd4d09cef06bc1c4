/** What the mapping step needs of a file: the names of its columns and some rows as examples. */
export type CsvHead = { headers: string[]; examples: string[][] }

const headBytes = 64 * 1024
const examplesMax = 3
const delimiters = [',', ';', '\t', '|']

export async function readCsvHead(file: Blob): Promise<CsvHead> {
  return parseCsvHead(await file.slice(0, headBytes).text())
}

/** The first rows of a CSV file. Reads no further than it needs, so the size of the file does not matter. */
export function parseCsvHead(text: string): CsvHead {
  const clean = text.replace(/^\uFEFF/, '')
  const firstLine = clean.slice(0, clean.search(/[\r\n]|$/))
  const delimiter = delimiters.toSorted((a, b) => firstLine.split(b).length - firstLine.split(a).length)[0] ?? ','
  const [headers = [], ...examples] = rows(clean, delimiter, examplesMax + 1)
  return { headers, examples }
}

function rows(text: string, delimiter: string, max: number): string[][] {
  const found: string[][] = []
  let row: string[] = []
  let field = ''
  let quoted = false
  const endRow = () => {
    row.push(field)
    if (row.length > 1 || field !== '') found.push(row)
    row = []
    field = ''
  }
  for (let at = 0; at < text.length && found.length < max; at++) {
    const char = text[at]
    if (quoted) {
      if (char !== '"') field += char
      else if (text[at + 1] === '"') field += text[++at]
      else quoted = false
    } else if (char === '"' && field === '') quoted = true
    else if (char === delimiter) {
      row.push(field)
      field = ''
    } else if (char === '\n' || char === '\r') endRow()
    else field += char
  }
  if (found.length < max) endRow()
  return found
}
