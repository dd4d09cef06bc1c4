// Attributes of a contact as rows of a form: a name, a type, and the value as text. They are stored as a JSON object.

export const attributeTypes = ['text', 'number', 'boolean', 'date', 'list', 'json'] as const
export type AttributeType = (typeof attributeTypes)[number]

export const typeLabels: Record<AttributeType, string> = {
  text: 'Text',
  number: 'Number',
  boolean: 'Yes or no',
  date: 'Date',
  list: 'List',
  json: 'JSON',
}

/** `id` identifies the row while it is edited. */
export type AttributeRow = { id: number; name: string; type: AttributeType; text: string }

let lastId = 0
export const newRow = (row: Partial<AttributeRow> = {}): AttributeRow => ({
  name: '',
  type: 'text',
  text: '',
  ...row,
  id: ++lastId,
})

const datePattern = /^\d{4}-\d{2}-\d{2}$/

export function typeOf(value: unknown): AttributeType {
  if (typeof value === 'string') return isDate(value) ? 'date' : 'text'
  if (typeof value === 'number') return 'number'
  if (typeof value === 'boolean') return 'boolean'
  return Array.isArray(value) && value.every(isListItem) ? 'list' : 'json'
}

/** Lists are written with commas. One whose items could not be read again is shown as JSON. */
const isListItem = (item: unknown) =>
  typeof item === 'string' && item !== '' && item.trim() === item && !item.includes(',')

function isDate(text: string): boolean {
  if (!datePattern.test(text)) return false
  const date = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)
}

/** The database orders the names by length, which looks arbitrary. */
export const byName = (attributes: Record<string, unknown>): [name: string, value: unknown][] =>
  Object.entries(attributes).sort(([a], [b]) => a.localeCompare(b, 'en'))

export const rowsOf = (attributes: Record<string, unknown>): AttributeRow[] =>
  byName(attributes).map(([name, value]) => {
    const type = typeOf(value)
    const text =
      type === 'json'
        ? JSON.stringify(value, null, 2)
        : type === 'list'
          ? (value as string[]).join(', ')
          : String(value)
    return newRow({ name, type, text })
  })

/** Returns the problem of a row, or undefined. */
export function problemOf(row: AttributeRow, rows: AttributeRow[]): string | undefined {
  const name = row.name.trim()
  if (name === '') return 'Name is required.'
  if (rows.some((other) => other.id !== row.id && other.name.trim() === name)) return 'This name is used twice.'
  if (row.type === 'number' && (row.text.trim() === '' || !Number.isFinite(Number(row.text)))) return 'Enter a number.'
  if (row.type === 'date' && !isDate(row.text.trim())) return 'Enter a date like 2026-03-31.'
  if (row.type === 'json' && attributeValue(row) === undefined) return 'Enter valid JSON, like {"city": "Vienna"}.'
  return undefined
}

function attributeValue({ type, text }: AttributeRow): unknown {
  switch (type) {
    case 'text':
      return text
    case 'number':
      return Number(text)
    case 'boolean':
      return text === 'true'
    case 'date':
      return text.trim()
    case 'list':
      return text
        .split(',')
        .map((item) => item.trim())
        .filter(Boolean)
    case 'json':
      try {
        return JSON.parse(text) as unknown
      } catch {
        return undefined
      }
  }
}

export const attributesOf = (rows: AttributeRow[]): Record<string, unknown> =>
  Object.fromEntries(rows.map((row) => [row.name.trim(), attributeValue(row)]))

/** Returns a row of another type, with its value as far as it can be converted. */
export function withType(row: AttributeRow, type: AttributeType): AttributeRow {
  if (type === 'boolean') return { ...row, type, text: /^(true|yes|1)$/i.test(row.text) ? 'true' : 'false' }
  if (type === 'json') return { ...row, type, text: JSON.stringify(attributeValue(row) ?? row.text) }
  return { ...row, type }
}

/** The value of an attribute for people. */
export function attributeText(value: unknown): string {
  switch (typeOf(value)) {
    case 'boolean':
      return value ? 'Yes' : 'No'
    case 'list':
      return (value as string[]).join(', ')
    case 'json':
      return JSON.stringify(value)
    default:
      return String(value)
  }
}
