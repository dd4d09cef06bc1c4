import { parseEmail } from '../email.ts'
import { CsvFault } from './csv.ts'
import { attributeKeysMax } from './fields.ts'

/** A column by its name in the header, of which the first counts, or by its position, counted from 1. */
export type ColumnRef = string | number

/** Which column becomes which field. */
export type Mapping = {
  email: ColumnRef
  first_name?: ColumnRef
  last_name?: ColumnRef
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
  attributes: [name: string, index: number][]
}

const columnsShownMax = 20

/** Finds the columns that a mapping names. */
export function mapColumns(firstRow: string[], mapping: Mapping): Columns {
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
    attributes: Object.entries(mapping.attributes ?? {}).map(([name, column]) => [name, find(column)]),
  }
}

function indexOfName(names: string[], name: string): number {
  const exact = names.indexOf(name)
  return exact >= 0 ? exact : names.findIndex((each) => each.toLowerCase() === name.toLowerCase())
}

const firstNames = ['first name', 'firstname', 'first', 'given name', 'forename', 'vorname', 'prénom', 'nombre']
const lastNames = ['last name', 'lastname', 'last', 'surname', 'family name', 'nachname', 'nom', 'apellido']

/**
 * Guesses the columns from their names: addresses and names by the usual ones, all others become attributes. A file
 * without a header is known by an address in its first row, which is data then.
 */
export function guessColumns(firstRow: string[]): { columns: Columns; hasHeader: boolean } {
  const names = firstRow.map(plain)
  const email = [/^e ?mail( ?address)?$|^mail$/, /e ?mail/].map((pattern) =>
    names.findIndex((name, index) => pattern.test(name) && !parseEmail(firstRow[index]).ok),
  )
  const emailAt = email.find((index) => index >= 0)
  if (emailAt === undefined) {
    const address = firstRow.findIndex((cell) => parseEmail(cell).ok)
    if (address < 0) throw new CsvFault(`No column holds the email address. ${listOf(firstRow)}`)
    const columns = { width: firstRow.length, email: address, firstName: null, lastName: null, attributes: [] }
    return { columns, hasHeader: false }
  }
  const firstName = names.findIndex((name) => firstNames.includes(name))
  const lastName = names.findIndex((name) => lastNames.includes(name))
  const attributes = new Map<string, number>()
  names.forEach((name, index) => {
    const key = name.replaceAll(' ', '_')
    if (key !== '' && ![emailAt, firstName, lastName].includes(index) && !attributes.has(key))
      attributes.set(key, index)
  })
  return {
    columns: {
      width: firstRow.length,
      email: emailAt,
      firstName: firstName < 0 ? null : firstName,
      lastName: lastName < 0 ? null : lastName,
      attributes: [...attributes].slice(0, attributeKeysMax),
    },
    hasHeader: true,
  }
}

/** Lower case, words separated by one space. */
const plain = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

function listOf(names: string[]): string {
  const shown = names.slice(0, columnsShownMax).map((name) => `"${name.slice(0, 60)}"`)
  return `The first row has ${shown.join(', ')}${names.length > shown.length ? ' and more' : ''}.`
}

export type RowMember = { email: string; first_name?: string; last_name?: string; attributes?: Record<string, string> }

/** A row as it would come in a request, or why it cannot. An empty cell says nothing, so it keeps what is known. */
export function toMember(cells: string[], columns: Columns): RowMember | { problem: string } {
  if (cells.slice(columns.width).some((cell) => cell.trim() !== ''))
    return { problem: `has ${cells.length} columns where the first row has ${columns.width}` }
  if (cells.some((cell) => cell.includes('\ufffd'))) return { problem: 'contains characters that are not UTF-8' }
  const cellAt = (index: number | null) => (index === null ? '' : (cells[index] ?? '').trim())
  const member: RowMember = { email: cellAt(columns.email) }
  const [firstName, lastName] = [cellAt(columns.firstName), cellAt(columns.lastName)]
  if (firstName !== '') member.first_name = firstName
  if (lastName !== '') member.last_name = lastName
  const attributes = columns.attributes.map(([name, index]) => [name, cellAt(index)] as const)
  const given = attributes.filter(([, value]) => value !== '')
  if (given.length > 0) member.attributes = Object.fromEntries(given)
  return member
}
