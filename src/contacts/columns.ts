import { parseEmail } from '../values/email.ts'
import { CsvFault, cellsMax } from './csv.ts'
import { attributeKeysMax } from './fields.ts'
import { readStatus } from './row-status.ts'
import type { SuppressionReason } from './suppressions.sql.ts'

/** A column by its name in the header, of which the first counts, or by its position, counted from 1. */
export type ColumnRef = string | number

/** Which column becomes which field. */
export type Mapping = {
  email: ColumnRef
  first_name?: ColumnRef
  last_name?: ColumnRef
  status?: ColumnRef
  attributes?: Record<string, ColumnRef>
  /** False when the first row is data; columns are given by their positions then. */
  has_header?: boolean
}

/** The same by position. */
export type Columns = {
  /** How many there are. */
  width: number
  email: number
  firstName: number | null
  lastName: number | null
  status: number | null
  attributes: [name: string, index: number][]
}

const columnsShownMax = 20

/** Finds the columns that a mapping names. */
export function mapColumns(firstRow: string[], mapping: Mapping): Columns {
  refuseIfTooWide(firstRow)
  if (mapping.has_header ?? true) refuseUnlessUtf8(firstRow)
  const names = firstRow.map((name) => name.trim())
  const find = (column: ColumnRef): number => {
    const index = typeof column === 'number' ? column - 1 : indexOfName(names, column.trim())
    if (index < 0 || index >= names.length)
      throw new CsvFault(`There is no column ${JSON.stringify(column)}. ${listOf(names)}`)
    return index
  }
  return {
    width: firstRow.length,
    email: find(mapping.email),
    firstName: mapping.first_name ? find(mapping.first_name) : null,
    lastName: mapping.last_name ? find(mapping.last_name) : null,
    status: mapping.status ? find(mapping.status) : null,
    attributes: Object.entries(mapping.attributes ?? {}).map(([name, column]) => [name, find(column)]),
  }
}

function refuseIfTooWide(firstRow: string[]): void {
  if (firstRow.length > cellsMax) throw new CsvFault(`The first row has more than ${cellsMax} columns.`)
}

function indexOfName(names: string[], name: string): number {
  const exact = names.indexOf(name)
  return exact >= 0 ? exact : names.findIndex((each) => each.toLowerCase() === name.toLowerCase())
}

const firstNames = ['first name', 'firstname', 'first', 'given name', 'forename', 'vorname', 'prénom', 'nombre']
const lastNames = ['last name', 'lastname', 'last', 'surname', 'family name', 'nachname', 'nom', 'apellido']
/** None that says no: a "yes" below it would be read as one. */
const statuses = [
  'status',
  'subscription',
  'subscription status',
  'subscribed',
  'is subscribed',
  'opt in',
  'optin',
  'opted in',
  'accepts marketing',
  'accepts email marketing',
]

/** `note` says what the owner of the file would not expect. */
export type Guess = { columns: Columns; hasHeader: boolean; note: string | null }

/** By rank: a later pattern counts only if no column matches an earlier one. Compared with `plain` names. */
const emailPatterns = [
  /^(e ?mail|mail)( ?(address|adresse|addr|id))?$/,
  /^(primary|work|personal|home|customer|subscriber|contact|user|billing|client|member) e ?mail( ?address)?$/,
  /^e ?mail( ?address)? 1( value)?$|^correo( electr[oó]nico)?$|^courriel$/,
  /\be ?mail\b(?!.*\b(type|status|opt|consent|verified|valid|subscribed|permission|date|count|id|label)\b)|mail( ?address)?$/,
]
/** In the report of rejected rows, which can be imported again. */
const reportColumns = ['import line', 'import problem']
const nameOnly = { firstName: null, lastName: null, status: null, attributes: [] }

/** A guess in which the address column may be missing. */
export type Suggestion = {
  columns: Omit<Columns, 'email'> & { email: number | null }
  hasHeader: boolean
  note: string | null
}

/**
 * Guesses the columns from their names: addresses and names by the usual ones, all others become attributes. A status is
 * both: it tells who unsubscribed, and may be one of another kind. A file without a header is recognized by an address in its
 * first row, which is data then. If no name matches, the column whose cells mostly are addresses counts.
 *
 * Throws `CsvFault` if no column holds the address.
 */
export function guessColumns(firstRow: string[], sampleRows: string[][] = []): Guess {
  const { columns, ...rest } = suggestColumns(firstRow, sampleRows)
  const { email } = columns
  if (email === null) throw new CsvFault(`No column holds the email address. ${listOf(firstRow)}`)
  return { columns: { ...columns, email }, ...rest }
}

/** The same for a person who completes the guess. `given` is whether the file has a header, if the person knows. */
export function suggestColumns(firstRow: string[], sampleRows: string[][], given?: boolean): Suggestion {
  refuseIfTooWide(firstRow)
  const names = firstRow.map(plain)
  const isAddress = firstRow.map((cell) => parseEmail(cell).ok)
  const byName = emailPatterns
    .map((pattern) => names.findIndex((name, index) => pattern.test(name) && !isAddress[index]))
    .find((index) => index >= 0)
  const width = firstRow.length
  const hasHeader = given ?? (byName !== undefined || !isAddress.includes(true))
  if (!hasHeader) {
    const email = isAddress.includes(true) ? isAddress.indexOf(true) : columnOfAddresses(width, sampleRows)
    return { columns: { width, ...nameOnly, email: email ?? null }, hasHeader, note: null }
  }
  refuseUnlessUtf8(firstRow)
  const email = byName ?? columnOfAddresses(width, sampleRows) ?? null
  const [firstName, lastName, status] = [firstNames, lastNames, statuses].map((known) => {
    const index = names.findIndex((name) => known.includes(name))
    return index < 0 ? null : index
  }) as [number | null, number | null, number | null]
  const { attributes, note } = guessAttributes(firstRow, [email, firstName, lastName])
  return { columns: { width, email, firstName, lastName, status, attributes }, hasHeader, note }
}

/** The column with the most addresses, if more than half of its cells are. */
function columnOfAddresses(width: number, rows: string[][]): number | undefined {
  const counts = Array.from({ length: width }, (_, index) => rows.filter((row) => parseEmail(row[index]).ok).length)
  const best = counts.indexOf(Math.max(...counts))
  return best >= 0 && counts[best]! * 2 > rows.length ? best : undefined
}

/** One for each name; a column without a name becomes none. */
function guessAttributes(
  header: string[],
  fields: (number | null)[],
): Pick<Guess, 'note'> & Pick<Columns, 'attributes'> {
  const attributes = new Map<string, number>()
  const repeated: string[] = []
  const beyond: string[] = []
  header.forEach((name, index) => {
    const key = plain(name).replaceAll(' ', '_')
    if (key === '' || fields.includes(index) || reportColumns.includes(plain(name))) return
    if (attributes.has(key)) repeated.push(name)
    else if (attributes.size < attributeKeysMax) attributes.set(key, index)
    else beyond.push(name)
  })
  const sentences = [
    repeated.length > 0 && `Columns that share their name with an earlier one were left out: ${quoted(repeated)}.`,
    beyond.length > 0 &&
      `A contact has at most ${attributeKeysMax} attributes, so these columns were left out: ${quoted(beyond)}.`,
  ].filter((sentence) => sentence !== false)
  const note = sentences.length > 0 ? [...sentences, 'A mapping can say which columns to take.'].join(' ') : null
  return { attributes: [...attributes], note }
}

/** In another encoding the names would not be those that people see. */
function refuseUnlessUtf8(header: string[]): void {
  if (header.some((name) => !isUtf8(name)))
    throw new CsvFault(
      'The first row contains characters that are not UTF-8. Save the file as CSV (UTF-8) and import that.',
    )
}

/** Reading replaces bytes that are no character by this one. */
const isUtf8 = (cell: string): boolean => !cell.includes('\ufffd')

/** Lower case, words separated by one space. */
const plain = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

const listOf = (names: string[]): string => `The first row has ${quoted(names)}.`

function quoted(names: string[]): string {
  // A character that is cut in two is none, and could not be stored; those that control something would not be seen.
  const shown = names.slice(0, columnsShownMax).map((name) => `"${name.slice(0, 60).replace(/\p{C}/gu, '')}"`)
  return `${shown.join(', ')}${names.length > shown.length ? ' and more' : ''}`
}

export type RowMember = { email: string; first_name?: string; last_name?: string; attributes?: Record<string, string> }
/** `objection` is what the row says against sending mail to the person. */
export type Row = { member: RowMember; objection: SuppressionReason | null }

/**
 * A row as it would come in a request, or why it cannot. An empty cell says nothing, so it keeps what is known. What a status
 * says that was only guessed to be one may mean anything.
 */
export function readRow(
  cells: string[],
  columns: Columns,
  isGuess: boolean,
): Row | { email: string | null; problem: string } {
  if (cells.length > cellsMax) return { email: null, problem: `has more than ${cellsMax} columns` }
  if (cells.slice(columns.width).some((cell) => cell.trim() !== ''))
    return { email: null, problem: `has ${cells.length} columns where the first row has ${columns.width}` }
  if (!cells.every(isUtf8)) return { email: null, problem: 'contains characters that are not UTF-8' }
  // The report of rejected rows puts a quote before what a spreadsheet would take for a formula.
  const cellAt = (index: number | null) =>
    index === null ? '' : (cells[index] ?? '').trim().replace(/^'(?=[=+\-@])/, '')
  const member: RowMember = { email: cellAt(columns.email) }
  const status = cellAt(columns.status)
  const objection = readStatus(status)
  if (objection === undefined && !isGuess) return { email: member.email, problem: unknownStatus(status) }
  const [firstName, lastName] = [cellAt(columns.firstName), cellAt(columns.lastName)]
  if (firstName !== '') member.first_name = firstName
  if (lastName !== '') member.last_name = lastName
  const attributes = columns.attributes.map(([name, index]) => [name, cellAt(index)] as const)
  const given = attributes.filter(([, value]) => value !== '')
  if (given.length > 0) member.attributes = Object.fromEntries(given)
  return { member, objection: objection ?? null }
}

const unknownStatus = (status: string): string =>
  `status ${quoted([status])} is not known: subscribed, unsubscribed, bounced, complained and suppressed are.`
