import { defineTask } from '../../platform/tasks/task.ts'
import { isStorable, storableText } from '../../platform/values/text.ts'
import { type Member, MemberReader, sentenceOf, shownEmailMax } from '../contacts/member-input.ts'
import type { ImportedSuppression } from '../suppressions/suppressions.ts'
import { decimalCommasOf, guessColumns, type Mapping, mapColumns, readRow } from './columns.ts'
import { CsvFault, type CsvPosition, type CsvRow, cellsMax, inspect, readSlice } from './csv.ts'
import type { ImportProblem, Layout } from './imports.sql.ts'

/** Rows per transaction. */
const rowsMax = 5_000
/** Rows examined to find the address column if no header names it, and columns with decimal commas. */
export const sampleRowsMax = 100
const keptCellsCharsMax = 4_000

export type SliceInput = {
  /** The bytes at `position`: `sliceBytes` of them, or fewer if `isLast`. */
  bytes: Uint8Array
  isLast: boolean
  position: CsvPosition
  /** Null at the start of the file. */
  layout: Layout | null
  mapping: Mapping | null
  problemsMax: number
}

export type ReadSlice = {
  layout: Layout
  position: CsvPosition
  rows: number
  /** Each has the line of its row as index. */
  members: Member[]
  suppressions: ImportedSuppression[]
  rejected: number
  /** The first rejected rows. */
  problems: ImportProblem[]
  /** Why the import cannot continue after `position`; null if it can. */
  fault: string | null
}

/** Parses and validates one slice of a file. Its cost is bounded by the size of the slice, not by the content. */
export const readImportTask = defineTask({
  name: 'contacts.import',
  title: 'Reading this part of the file',
  msMax: 30_000,
  run: readImportSlice,
})

/** Reports a `CsvFault` in `fault`; any other error is a bug and is thrown. */
export function readImportSlice(input: SliceInput): ReadSlice {
  const bytes = Buffer.from(input.bytes.buffer, input.bytes.byteOffset, input.bytes.byteLength)
  try {
    return readFrom(bytes, input)
  } catch (error) {
    if (!(error instanceof CsvFault)) throw error
    const layout = input.layout ?? {
      delimiter: ',',
      columns: mapColumns([''], { email: 1, has_header: false }),
      note: null,
    }
    const nothing = { rows: 0, members: [], suppressions: [], rejected: 0, problems: [] }
    return { ...nothing, layout, position: input.position, fault: error.message }
  }
}

function readFrom(bytes: Buffer, { isLast, position, layout: known, mapping, problemsMax }: SliceInput): ReadSlice {
  const options = { isLast, rowsMax }
  if (known) {
    const slice = readSlice(bytes, known.delimiter, position, options)
    return {
      ...readRows(slice.rows, known, mapping, problemsMax),
      layout: known,
      position: slice.position,
      fault: slice.fault,
    }
  }
  const { offset, delimiter } = inspect(bytes)
  const slice = readSlice(bytes.subarray(offset), delimiter, { offset, line: 0 }, options)
  const [first, ...rest] = slice.rows
  if (!first && slice.fault) throw new CsvFault(slice.fault)
  // The file may start with blank rows that fill the slice.
  if (!first && !isLast) throw new CsvFault('The file starts with too many blank lines.')
  if (!first) throw new CsvFault('The file is empty.')
  const { columns, hasHeader, note } = mapping
    ? { columns: mapColumns(first.cells, mapping), hasHeader: mapping.has_header ?? true, note: null }
    : guessColumns(first.cells, cellsOf(rest))
  const header = hasHeader ? first.cells.map((name) => storableText(name, 100)) : undefined
  const rows = hasHeader ? rest : slice.rows
  const decimalCommas = decimalCommasOf(columns, cellsOf(rows))
  const layout: Layout = { delimiter, columns: { ...columns, decimalCommas }, note, ...(header && { header }) }
  return { ...readRows(rows, layout, mapping, problemsMax), layout, position: slice.position, fault: slice.fault }
}

const cellsOf = (rows: CsvRow[]): string[][] => rows.slice(0, sampleRowsMax).map(({ cells }) => cells)

function readRows(rows: CsvRow[], { columns }: Layout, mapping: Mapping | null, problemsMax: number) {
  const reader = new MemberReader()
  const problems: ImportProblem[] = []
  const suppressions: ImportedSuppression[] = []
  let rejected = 0
  const reject = ({ cells, line }: CsvRow, email: string | null, problem: string) => {
    if (++rejected <= problemsMax) problems.push({ line, email: storable(email), problem, cells: keptCells(cells) })
  }
  for (const row of rows) {
    const read = readRow(row.cells, columns, mapping === null)
    if ('problem' in read) reject(row, read.email, read.problem)
    else if (!reader.add(read.member, row.line)) {
      const refused = reader.rejected.pop()!
      reject(row, refused.email, sentenceOf(refused))
    } else if (read.suppression) suppressions.push({ email: read.member.email, reason: read.suppression })
  }
  return { rows: rows.length, members: reader.members, suppressions, rejected, problems }
}

function storable(email: string | null): string | null {
  const shown = email?.slice(0, shownEmailMax) ?? null
  return shown !== null && isStorable(shown) ? shown : null
}

/**
 * Returns the cells of a rejected row, so that it can be corrected and imported again, or null if they are too long to
 * keep.
 */
function keptCells(cells: string[]): string[] | null {
  if (cells.length > cellsMax) return null
  let chars = 0
  for (const cell of cells) {
    chars += cell.length + 3
    if (chars > keptCellsCharsMax || !isStorable(cell)) return null
  }
  return cells
}
