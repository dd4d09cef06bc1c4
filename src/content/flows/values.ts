import { nearestName } from '../../platform/values/nearest-name.ts'
import { brandFields } from '../brands/brand-values.ts'

/** The values of an email. All of them are JSON data: no functions, classes or cycles. */
export type TemplateValues = {
  contact: {
    email: string
    firstName: string | null
    lastName: string | null
    attributes: Readonly<Record<string, unknown>>
  }
  organization: { name: string }
  unsubscribeUrl: string
  /** What "now" means in the template, in milliseconds since 1970. The current time if undefined. */
  time?: number
  context: Readonly<Record<string, unknown>>
}

/** Returns the values of an email that is only drafted, so it has no unsubscribe URL yet. */
export function draftValues(
  contact: TemplateValues['contact'],
  organizationName: string,
  context: TemplateValues['context'],
  time?: number,
): TemplateValues {
  const values = {
    contact,
    organization: { name: organizationName },
    unsubscribeUrl: 'https://unsubscribe.invalid',
    context,
  }
  return time === undefined ? values : { ...values, time }
}

/** A variable as the keys that lead to it. */
export type Path = readonly (string | number)[]

export type Scope = Readonly<Record<string, unknown>>

/**
 * Names that a context cannot override: a send request must not change the contact or the unsubscribe URL. `brand` is
 * replaced by its values before a template is loaded.
 */
export const reservedNames: readonly string[] = ['contact', 'organization', 'brand', 'unsubscribe_url', 'context']

/** The fields of the reserved objects. Any other field never has a value, so it can only be a mistake. */
const objectFields: Readonly<Record<string, readonly string[]>> = {
  contact: ['email', 'first_name', 'last_name', 'attributes'],
  organization: ['name'],
  brand: brandFields,
}

/** Returns the object and the field if the path reads a field that no contact or organization has. */
export function unknownFieldIn([object, field]: Path): { object: string; field: string } | undefined {
  if (typeof object !== 'string' || !Object.hasOwn(objectFields, object) || field === undefined) return undefined
  return objectFields[object]!.includes(String(field)) ? undefined : { object, field: String(field) }
}

/** Returns the variable that was probably meant, if an unknown field of a contact or organization is read. */
export function suggestionFor({ object, field }: { object: string; field: string }): string | undefined {
  if (reservedNames.includes(field)) return field
  const fields = objectFields[object]!
  const written = nearestName(snakeCase(field), fields) ?? fields.find((name) => name.endsWith(`_${field}`))
  if (written) return `${object}.${written}`
  return object === 'contact' && /^\w+$/.test(field) ? `contact.attributes.${field}` : undefined
}

const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/**
 * Returns the variables of a template. Context keys are available at the top level (and under `context`). Unless null,
 * they take precedence over the contact's `email`, `first_name` and `last_name`, and these over its attributes, which
 * are also available at the top level (and under `contact.attributes`). Reserved names take precedence over all.
 */
export function scopeOf(values: TemplateValues): Scope {
  const { contact, organization, context } = values
  const { email, firstName, lastName, attributes } = contact
  const scope: Record<string, unknown> = {
    email,
    first_name: firstName,
    last_name: lastName,
    contact: { email, first_name: firstName, last_name: lastName, attributes },
    organization: { name: organization.name },
    unsubscribe_url: values.unsubscribeUrl,
    context,
  }
  // Assigned one by one, since lookups on an object built with spread take ten times as long. Assigning `__proto__`
  // would change the prototype; in the source objects it can be read like any other key.
  for (const key of Object.keys(attributes))
    if (!Object.hasOwn(scope, key) && key !== '__proto__') scope[key] = attributes[key]
  for (const key of Object.keys(context)) {
    const isTaken = reservedNames.includes(key) || ((context[key] ?? null) === null && Object.hasOwn(scope, key))
    if (!isTaken && key !== '__proto__') scope[key] = context[key]
  }
  return scope
}

/** Reads a variable as the engine does: own properties, and otherwise `size`, `first` and `last`. */
export function readPath(scope: Scope, path: Path): unknown {
  let value: unknown = scope
  for (const key of path) {
    if (value === undefined || value === null) return value
    value = readKey(value, key)
  }
  return value
}

function readKey(value: unknown, key: string | number): unknown {
  const object = value as Record<string | number, unknown>
  if (Array.isArray(value) && typeof key === 'number') return value[key < 0 ? value.length + key : key]
  if (Object.hasOwn(object, key)) return object[key]
  if (key === 'size') return sizeOf(value)
  if (Array.isArray(value) && key === 'first') return value[0]
  if (Array.isArray(value) && key === 'last') return value.at(-1)
  return undefined
}

function sizeOf(value: unknown): number | undefined {
  if (typeof value === 'string' || Array.isArray(value)) return value.length
  return typeof value === 'object' && value ? Object.keys(value).length : undefined
}

/** Returns whether `default` replaces the value. */
export function isMissing(value: unknown): boolean {
  if (typeof value === 'string' || Array.isArray(value)) return value.length === 0
  return value === undefined || value === null || value === false
}
