import type { Path } from './syntax-tree.ts'

/** What a mail is made from. All of it is data as JSON knows it: no functions, no classes, no cycles. */
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

export type Scope = Readonly<Record<string, unknown>>

/** Names that a context cannot take over: a send must not be able to change whom a mail speaks to, or the way out. */
export const reservedNames: readonly string[] = ['contact', 'organization', 'unsubscribe_url', 'context']

/**
 * The names a template sees. The keys of the context stand at the top (and under `context`). Unless they are null they win
 * over the contact's `email`, `first_name` and `last_name`, and these over its attributes, which stand at the top as well
 * (and under `contact.attributes`). The reserved names win over all.
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
    // Signed when it is read: most transactional mail does not show it.
    get unsubscribe_url() {
      return values.unsubscribeUrl
    },
    context,
  }
  // One by one, since names behind a spread, on the way of every mail, take ten times as long. `__proto__` would change
  // what the object is when assigned; where the values come from it can be read like any other.
  for (const key of Object.keys(attributes))
    if (!Object.hasOwn(scope, key) && key !== '__proto__') scope[key] = attributes[key]
  for (const key of Object.keys(context)) {
    const isTaken = reservedNames.includes(key) || ((context[key] ?? null) === null && Object.hasOwn(scope, key))
    if (!isTaken && key !== '__proto__') scope[key] = context[key]
  }
  return scope
}

/** Reads a variable exactly as the engine does: own properties, and `size`, `first` and `last` where there is none. */
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

/** What `default` replaces. */
export function isMissing(value: unknown): boolean {
  if (typeof value === 'string' || Array.isArray(value)) return value.length === 0
  return value === undefined || value === null || value === false
}
