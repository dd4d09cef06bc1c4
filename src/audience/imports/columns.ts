import { parseEmail } from '../../platform/values/email.ts'
import type { SuppressionReason } from '../contacts/eligibility.ts'
import { attributeKeysMax } from '../contacts/fields.ts'
import { hasDecimalCommas, readMailbox, splitName, withDecimalPoint } from './cells.ts'
import { CsvFault, cellsMax } from './csv.ts'
import { readStatus } from './row-status.ts'

/** A column by its header, of which the first match counts, or by its position, counted from 1. */
export type ColumnRef = string | number

/** Which column becomes which field. */
export type Mapping = {
  email: ColumnRef
  first_name?: ColumnRef
  last_name?: ColumnRef
  status?: ColumnRef
  attributes?: Record<string, ColumnRef>
  /** False if the first row is data; columns are then given by position. */
  has_header?: boolean
}

/** A mapping with resolved positions, counted from 0. */
export type Columns = {
  /** The number of columns. */
  width: number
  email: number
  firstName: number | null
  lastName: number | null
  status: number | null
  attributes: [name: string, index: number][]
  /** Columns of numbers with a decimal comma. Undefined in imports that were started by an earlier version. */
  decimalCommas?: number[]
}

const columnsShownMax = 20

/** Resolves the columns of a mapping. Throws `CsvFault` if one does not exist. */
export function mapColumns(firstRow: string[], mapping: Mapping): Columns {
  refuseIfTooWide(firstRow)
  if (mapping.has_header ?? true) refuseUnlessUtf8(firstRow)
  const names = firstRow.map((name) => name.trim())
  const find = (column: ColumnRef): number => {
    const index = typeof column === 'number' ? column - 1 : indexOfName(names, column.trim())
    if (index < 0 || index >= names.length)
      throw new CsvFault(`Column ${JSON.stringify(column)} not found. ${listOf(names)}`)
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
/** Does not include negated names: a "yes" below "opted out" would be read as a subscription. */
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

/** `note` explains surprising results, such as skipped columns. */
export type Guess = { columns: Columns; hasHeader: boolean; note: string | null }

/** By priority: a later pattern counts only if no column matches an earlier one. Matched against `plain` names. */
const emailPatterns = [
  /^(e ?mail|mail)( ?(address|adresse|addr|id))?$/,
  /^(primary|work|personal|home|customer|subscriber|contact|user|billing|client|member) e ?mail( ?address)?$/,
  /^e ?mail( ?address)? 1( value)?$|^correo( electr[oó]nico)?$|^courriel$/,
  /\be ?mail\b(?!.*\b(type|status|opt|consent|verified|valid|subscribed|permission|date|count|id|label)\b)|mail( ?address)?$/,
]
/** Columns that the report about rejected rows adds. The report can be imported again. */
const reportColumns = ['import line', 'import problem']
const nameOnly = { firstName: null, lastName: null, status: null, attributes: [] }

/** A guess that may lack the address column. */
export type Suggestion = {
  columns: Omit<Columns, 'email'> & { email: number | null }
  hasHeader: boolean
  note: string | null
}

/**
 * Guesses the columns from their names: address and names by common headers, and all others as attributes. A status
 * column is used both as status and as attribute, because it may mean something else. An address in the first row means
 * that the file has no header. If no header matches, the column with mostly addresses is used.
 *
 * Throws `CsvFault` if no column contains the address.
 */
export function guessColumns(firstRow: string[], sampleRows: string[][] = []): Guess {
  const { columns, ...rest } = suggestColumns(firstRow, sampleRows)
  const { email } = columns
  if (email === null) throw new CsvFault(`No column contains email addresses. ${listOf(firstRow)}`)
  return { columns: { ...columns, email }, ...rest }
}

/** Like `guessColumns`, for a user who completes the guess. `given` is whether the file has a header, if known. */
export function suggestColumns(firstRow: string[], sampleRows: string[][], given?: boolean): Suggestion {
  refuseIfTooWide(firstRow)
  const names = firstRow.map(plain)
  const isAddress = firstRow.map(hasAddress)
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

const hasAddress = (cell: string | undefined): boolean => parseEmail(readMailbox((cell ?? '').trim()).email).ok

/** The columns of attributes that are numbers with a decimal comma, judging by the first rows. */
export const decimalCommasOf = ({ attributes }: Pick<Columns, 'attributes'>, rows: string[][]): number[] =>
  attributes.map(([, index]) => index).filter((index) => hasDecimalCommas(rows.map((row) => row[index] ?? '')))

/** Returns the column with the most addresses, or undefined if at most half of its cells are addresses. */
function columnOfAddresses(width: number, rows: string[][]): number | undefined {
  const counts = Array.from({ length: width }, (_, index) => rows.filter((row) => hasAddress(row[index])).length)
  const best = counts.indexOf(Math.max(...counts))
  return best >= 0 && counts[best]! * 2 > rows.length ? best : undefined
}

/** One attribute per name; columns without a name are skipped. */
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
    repeated.length > 0 && `Skipped columns with the same name as an earlier column: ${quoted(repeated)}.`,
    beyond.length > 0 &&
      `Skipped columns because a contact can have at most ${attributeKeysMax} attributes: ${quoted(beyond)}.`,
  ].filter((sentence) => sentence !== false)
  const note = sentences.length > 0 ? [...sentences, 'Choose the columns to import in the mapping.'].join(' ') : null
  return { attributes: [...attributes], note }
}

/** In another encoding, the names would differ from those that users see. */
function refuseUnlessUtf8(header: string[]): void {
  if (header.some((name) => !isUtf8(name)))
    throw new CsvFault(
      'The first row contains characters that are not UTF-8. Save the file as CSV (UTF-8) and import that file.',
    )
}

/** Decoding replaces invalid bytes by U+FFFD. */
const isUtf8 = (cell: string): boolean => !cell.includes('\ufffd')

/** Lower case, words separated by one space. */
const plain = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

const listOf = (names: string[]): string => `The columns are ${quoted(names)}.`

function quoted(names: string[]): string {
  // Removes lone surrogates, which cannot be stored, and invisible control characters.
  const shown = names.slice(0, columnsShownMax).map((name) => `"${name.slice(0, 60).replace(/\p{C}/gu, '')}"`)
  return `${shown.join(', ')}${names.length > shown.length ? ' and more' : ''}`
}

type RowMember = { email: string; first_name?: string; last_name?: string; attributes?: Record<string, string> }
/** `suppression` is the reason, according to the row's status, not to email the contact. */
export type Row = { member: RowMember; suppression: SuppressionReason | null }

/**
 * Returns the row as member input, or why it is rejected. An empty cell keeps the existing value. If the status column
 * was auto-detected, unknown values are ignored.
 */
export function readRow(
  cells: string[],
  columns: Columns,
  isGuess: boolean,
): Row | { email: string | null; problem: string } {
  if (cells.length > cellsMax) return { email: null, problem: `has more than ${cellsMax} columns` }
  if (cells.slice(columns.width).some((cell) => cell.trim() !== ''))
    return { email: null, problem: `has ${cells.length} columns, but the first row has ${columns.width}` }
  if (!cells.every(isUtf8)) return { email: null, problem: 'contains characters that are not UTF-8' }
  // The report of rejected rows puts a quote before values that a spreadsheet would treat as a formula.
  const cellAt = (index: number | null) =>
    index === null ? '' : (cells[index] ?? '').trim().replace(/^'(?=[=+\-@])/, '')
  const { email, name } = readMailbox(cellAt(columns.email))
  const member: RowMember = { email }
  const status = cellAt(columns.status)
  const suppression = readStatus(status)
  if (suppression === undefined && !isGuess) return { email: member.email, problem: unknownStatus(status) }
  const { firstName, lastName } =
    columns.firstName === null && columns.lastName === null
      ? splitName(name)
      : { firstName: cellAt(columns.firstName), lastName: cellAt(columns.lastName) }
  if (firstName !== '') member.first_name = firstName
  if (lastName !== '') member.last_name = lastName
  const attributes = columns.attributes.map(([key, index]) => {
    const cell = cellAt(index)
    return [key, columns.decimalCommas?.includes(index) ? withDecimalPoint(cell) : cell] as const
  })
  const given = attributes.filter(([, value]) => value !== '')
  if (given.length > 0) member.attributes = Object.fromEntries(given)
  return { member, suppression: suppression ?? null }
}

const unknownStatus = (status: string): string =>
  `status ${quoted([status])} is unknown: use subscribed, unsubscribed, bounced, complained or suppressed`
