export type Mapping = {
  email: string
  first_name?: string
  last_name?: string
  attributes: Record<string, string>
}

/** What one column becomes. */
export type Target = 'email' | 'first_name' | 'last_name' | 'attribute' | 'ignore'
export type ColumnChoice = { header: string; target: Target; attribute: string }

const known: [RegExp, Target][] = [
  [/^(e-?mail|mail|email[ _-]?address|address)$/i, 'email'],
  [/^(first[ _-]?name|given[ _-]?name|forename|vorname)$/i, 'first_name'],
  [/^(last[ _-]?name|family[ _-]?name|surname|nachname)$/i, 'last_name'],
]

/** A first guess by the columns' names; the person may change each. A field is given to one column only. */
export function guessChoices(headers: string[]): ColumnChoice[] {
  const taken = new Set<Target>()
  return headers.map((header) => {
    const target = known.find(([pattern]) => pattern.test(header.trim()))?.[1]
    if (target && !taken.has(target)) {
      taken.add(target)
      return { header, target, attribute: attributeName(header) }
    }
    return { header, target: header.trim() === '' ? 'ignore' : 'attribute', attribute: attributeName(header) }
  })
}

const attributeName = (header: string) =>
  header
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .replace(/^_+|_+$/g, '')

/** A sentence where the choices cannot be used, else the mapping. */
export function toMapping(choices: ColumnChoice[]): Mapping | string {
  const attributes: Record<string, string> = {}
  const fields: { email?: string; first_name?: string; last_name?: string } = {}
  for (const { header, target, attribute } of choices) {
    if (target === 'ignore') continue
    if (target === 'attribute') {
      if (attribute === '') return `Give the attribute of the column “${header}” a name.`
      if (Object.hasOwn(attributes, attribute)) return `Two columns become the attribute “${attribute}”.`
      attributes[attribute] = header
      continue
    }
    if (fields[target]) return `Two columns become the same field: “${fields[target]}” and “${header}”.`
    fields[target] = header
  }
  if (!fields.email) return 'Choose the column that holds the email address.'
  return { ...fields, email: fields.email, attributes }
}
