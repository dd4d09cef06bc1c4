import type { FileInspection } from '../../api/types.ts'

/** By the positions of the columns, counted from 1. */
export type Mapping = {
  email: number
  first_name?: number
  last_name?: number
  status?: number
  attributes: Record<string, number>
  has_header: boolean
}

/** What one column is imported as. */
export type Target = 'email' | 'first_name' | 'last_name' | 'status' | 'attribute' | 'ignore'
export type ColumnChoice = { title: string; position: number; target: Target; attribute: string }

const attributesMax = 100

/** The columns of a file with the mapping that Waxwing suggests, which the user can change. */
export function suggestedChoices({ columns, mapping }: FileInspection): ColumnChoice[] {
  const attributeAt = new Map(Object.entries(mapping.attributes).map(([name, position]) => [position, name]))
  const fields = ['email', 'first_name', 'last_name', 'status'] as const
  return columns.map(({ position, name }) => {
    const attribute = attributeAt.get(position) ?? ''
    const target = fields.find((field) => mapping[field] === position) ?? (attribute === '' ? 'ignore' : 'attribute')
    const isShared = columns.some((other) => other.name === name && other.position !== position)
    const title = name === null ? `Column ${position}` : isShared ? `${name} (column ${position})` : name
    return { title, position, target, attribute }
  })
}

/** Returns the mapping, or a sentence that says what is missing. */
export function toMapping(choices: ColumnChoice[], hasHeader: boolean): Mapping | string {
  const attributes: Record<string, number> = {}
  const fields: Partial<Record<'email' | 'first_name' | 'last_name' | 'status', ColumnChoice>> = {}
  for (const choice of choices) {
    const { title, position, target, attribute } = choice
    if (target === 'ignore') continue
    if (target === 'attribute') {
      if (attribute === '') return `Name the attribute for the column “${title}”.`
      if (Object.hasOwn(attributes, attribute)) return `Two columns have the attribute name “${attribute}”.`
      attributes[attribute] = position
      continue
    }
    if (fields[target]) return `Two columns are imported as the same field: “${fields[target].title}” and “${title}”.`
    fields[target] = choice
  }
  const tooMany = Object.keys(attributes).length - attributesMax
  if (tooMany > 0) return `A contact has at most ${attributesMax} attributes. Skip ${tooMany} more of the columns.`
  const { email, first_name, last_name, status } = fields
  if (!email) return 'Choose the column that contains the email address.'
  return {
    email: email.position,
    ...(first_name && { first_name: first_name.position }),
    ...(last_name && { last_name: last_name.position }),
    ...(status && { status: status.position }),
    attributes,
    has_header: hasHeader,
  }
}
