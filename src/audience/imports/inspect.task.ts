import { defineTask } from '../../platform/tasks/task.ts'
import { Refusal } from '../../platform/values/errors.ts'
import { hasDecimalCommas } from './cells.ts'
import { type Suggestion, suggestColumns } from './columns.ts'
import { CsvFault, type Delimiter, inspect, readSlice, sliceBytes } from './csv.ts'
import { sampleRowsMax } from './import.task.ts'

const shownRowsMax = 3
const shownCharsMax = 1_000

export type InspectInput = {
  /** The start of the file: all of it, or `sliceBytes` bytes. */
  bytes: Uint8Array
  /** Undefined to detect it. */
  hasHeader: boolean | undefined
}

export type Inspection = Suggestion & {
  delimiter: Delimiter
  /** Of each column, whether it has numbers with a decimal comma. */
  decimalCommas: boolean[]
  /** Empty without a header. */
  header: string[]
  rows: string[][]
  /** Why an import of this file would fail; null if no reason is known. */
  problem: string | null
}

/** Inspects the start of a file before its import. */
export const inspectImportTask = defineTask({
  name: 'contacts.inspect',
  title: 'Reading this file',
  msMax: 30_000,
  run: inspectFile,
})

/** Throws `Refusal` if the file cannot be imported with any mapping. */
export function inspectFile({ bytes, hasHeader: given }: InspectInput): Inspection {
  try {
    return readStart(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), given)
  } catch (error) {
    if (!(error instanceof CsvFault)) throw error
    throw new Refusal('validation_failed', error.message, { fields: [{ path: 'body', problem: error.message }] })
  }
}

function readStart(bytes: Buffer, given: boolean | undefined): Inspection {
  const isLast = bytes.length < sliceBytes
  const { offset, delimiter } = inspect(bytes)
  // Parses the whole slice, so that an unclosed quote is found in a small file.
  const slice = readSlice(bytes.subarray(offset), delimiter, { offset, line: 0 }, { isLast, rowsMax: bytes.length })
  const [first, ...rest] = slice.rows
  if (!first && slice.fault) throw new CsvFault(slice.fault)
  if (!first) throw new CsvFault(isLast ? 'The file is empty.' : 'The file starts with too many blank lines.')
  const cells = rest.slice(0, sampleRowsMax).map((row) => row.cells)
  const suggestion = suggestColumns(first.cells, cells, given)
  const { width } = suggestion.columns
  const shown = suggestion.hasHeader ? cells : [first.cells, ...cells]
  const decimalCommas = Array.from({ length: width }, (_, index) =>
    hasDecimalCommas(shown.slice(0, sampleRowsMax).map((row) => row[index] ?? '')),
  )
  return {
    ...suggestion,
    delimiter,
    decimalCommas,
    header: suggestion.hasHeader ? first.cells.map(shorten) : [],
    rows: shown.slice(0, shownRowsMax).map((row) => row.slice(0, width).map(shorten)),
    problem: slice.fault,
  }
}

const shorten = (cell: string): string =>
  cell
    .trim()
    .slice(0, shownCharsMax)
    .replace(/[\ud800-\udbff]$/, '')
