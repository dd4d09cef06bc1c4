/** A column by its name, or by its position counted from 1. */
type ColumnRef = string | number

export type Mapping = {
  email: ColumnRef
  first_name?: ColumnRef
  last_name?: ColumnRef
  status?: ColumnRef
  attributes: Record<string, ColumnRef>
  /** False when the first line is data. */
  has_header: boolean
}

/** What one column becomes. */
export type Target = 'email' | 'first_name' | 'last_name' | 'status' | 'attribute' | 'ignore'
/** `header` is what people see, `column` is what the service is told. */
export type ColumnChoice = { header: string; column: ColumnRef; target: Target; attribute: string }

const attributesMax = 100

const known: [RegExp, Target][] = [
  [/^(e-?mail|mail|email[ _-]?address|address)$/i, 'email'],
  [/^(first[ _-]?name|given[ _-]?name|forename|vorname)$/i, 'first_name'],
  [/^(last[ _-]?name|family[ _-]?name|surname|nachname)$/i, 'last_name'],
  [/^(subscription[ _-]?)?status$|^subscription$|^(is[ _-])?subscribed$/i, 'status'],
  [/^opt(ed)?[ _-]?in$|^accepts[ _-](email[ _-])?marketing$/i, 'status'],
]

const address = /^[^\s@]+@[^\s@]+\.[^\s@]+$/
const isAddress = (cell: string) => address.test(cell.trim())

/** A first line that holds an address where no column is called one is a person already. */
export const looksLikeData = (firstRow: string[]): boolean =>
  firstRow.some(isAddress) && !guessChoices(firstRow).some(({ target }) => target === 'email')

/** Without names only the address can be told. */
export function choicesByPosition(firstRow: string[]): ColumnChoice[] {
  const email = firstRow.findIndex(isAddress)
  return firstRow.map((_, index) => ({
    header: `Column ${index + 1}`,
    column: index + 1,
    target: index === email ? 'email' : 'ignore',
    attribute: '',
  }))
}

/** A first guess by the columns' names; the person may change each. A field is given to one column only. */
export function guessChoices(headers: string[]): ColumnChoice[] {
  const names = headers.map((header) => header.trim())
  const taken = new Set<Target>()
  return names.map((name, index) => {
    const column = { ...columnOf(names, index), attribute: attributeName(name) }
    const target = known.find(([pattern]) => pattern.test(name))?.[1]
    if (target && !taken.has(target)) {
      taken.add(target)
      return { ...column, target }
    }
    return { ...column, target: name === '' ? 'ignore' : 'attribute' }
  })
}

/** By its name, unless it has none or shares it with another. */
function columnOf(names: string[], index: number): Pick<ColumnChoice, 'header' | 'column'> {
  const name = names[index] ?? ''
  const position = index + 1
  if (name === '') return { header: `Column ${position}`, column: position }
  const isShared = names.some((other, at) => other === name && at !== index)
  return isShared ? { header: `${name} (column ${position})`, column: position } : { header: name, column: name }
}

const attributeName = (header: string) =>
  header
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .replace(/^_+|_+$/g, '')

/** A sentence where the choices cannot be used, else the mapping. */
export function toMapping(choices: ColumnChoice[], firstLineIsData: boolean): Mapping | string {
  const attributes: Record<string, ColumnRef> = {}
  const fields: Partial<Record<'email' | 'first_name' | 'last_name' | 'status', ColumnChoice>> = {}
  for (const choice of choices) {
    const { header, column, target, attribute } = choice
    if (target === 'ignore') continue
    if (target === 'attribute') {
      if (attribute === '') return `Give the attribute of the column “${header}” a name.`
      if (Object.hasOwn(attributes, attribute)) return `Two columns become the attribute “${attribute}”.`
      attributes[attribute] = column
      continue
    }
    if (fields[target]) return `Two columns become the same field: “${fields[target].header}” and “${header}”.`
    fields[target] = choice
  }
  const tooMany = Object.keys(attributes).length - attributesMax
  if (tooMany > 0) return `A contact has at most ${attributesMax} attributes. Leave out ${tooMany} more of the columns.`
  const { email, first_name, last_name, status } = fields
  if (!email) return 'Choose the column that holds the email address.'
  return {
    email: email.column,
    ...(first_name && { first_name: first_name.column }),
    ...(last_name && { last_name: last_name.column }),
    ...(status && { status: status.column }),
    attributes,
    has_header: !firstLineIsData,
  }
}
