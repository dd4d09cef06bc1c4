import { download } from './download.ts'

export type Cell = string | number | null | undefined

/** A spreadsheet would run a cell that starts like a formula. An import removes the quote before it again. */
const toCell = (value: Cell) =>
  `"${String(value ?? '')
    .replace(/^[=+\-@\t\r]/, "'$&")
    .replaceAll('"', '""')}"`

/** Saves rows as a CSV file of the browser's downloads. */
export function downloadCsv(name: string, header: string[], rows: Cell[][]): void {
  const text = [header, ...rows].map((row) => row.map(toCell).join(',')).join('\n')
  download(`${name}.csv`, 'text/csv', `${text}\n`)
}

/** A part of a file name: a name without the characters that file systems reject. */
export const fileNameOf = (text: string) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '') || 'unnamed'
