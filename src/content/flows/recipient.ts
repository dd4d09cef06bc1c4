import type { TemplateValues } from './values.ts'
import type { Variable } from './variables.ts'

/** The values of a contact and its organization that a template reads. */
export type RecipientFields = { attributes: ReadonlySet<string> | 'all'; organization: boolean }

export const noRecipientFields: RecipientFields = { attributes: new Set(), organization: false }

const tags = /\{[{%].*?[%}]\}/gs
/** A key that is known only when the template is rendered, as in `contact.attributes[context.key]`. */
const computedKey = /\[\s*[^\s"'\d-]/
/** Looks inside tags only: HTML contains brackets of its own, such as `<!--[if mso]>`. */
const hasComputedKey = (source: string) => (source.match(tags) ?? []).some((tag) => computedKey.test(tag))

type Part = { source: string; variables: readonly Variable[]; locals: ReadonlySet<string> }

/** When in doubt a field counts as read: storing one too many costs a few bytes, storing one too few loses its value. */
export function recipientFieldsOf(parts: readonly Part[]): RecipientFields {
  const paths = parts.flatMap(({ variables }) => variables.map(({ path }) => path))
  const organization = paths.some(([first]) => first === 'organization')
  const readsAll =
    parts.some(({ source }) => hasComputedKey(source)) ||
    paths.some(([first, second, third]) =>
      first === 'contact' ? second === undefined || (second === 'attributes' && third === undefined) : false,
    )
  if (readsAll) return { attributes: 'all', organization }
  const names = paths.map((path) => (path[0] === 'contact' && path[1] === 'attributes' ? path[2] : path[0]))
  return { attributes: new Set([...names.map(String), ...parts.flatMap(({ locals }) => [...locals])]), organization }
}

/**
 * The values of a contact and its organization as they were when a message was accepted, reduced to those that its
 * template reads. Stored with the message, so that sending it again and showing it later yield the same email.
 */
export type RecipientSnapshot = {
  first_name?: string
  last_name?: string
  attributes?: Record<string, unknown>
  organization?: string
  /** The parameters that a broadcast adds to links, instead of those of its flow. */
  utm?: string
}

export function snapshotOf(fields: RecipientFields, { contact, organization }: TemplateValues): RecipientSnapshot {
  const snapshot: RecipientSnapshot = {}
  // The header To shows the name, whatever the template reads.
  if (contact.firstName !== null) snapshot.first_name = contact.firstName
  if (contact.lastName !== null) snapshot.last_name = contact.lastName
  const attributes = readAttributes(fields, contact.attributes)
  if (attributes) snapshot.attributes = attributes
  if (fields.organization) snapshot.organization = organization.name
  return snapshot
}

function readAttributes(fields: RecipientFields, attributes: Readonly<Record<string, unknown>>) {
  const kept = Object.entries(attributes).filter(([key]) => fields.attributes === 'all' || fields.attributes.has(key))
  return kept.length === 0 ? undefined : Object.fromEntries(kept)
}

/** The template values of a stored snapshot. */
export const recipientOf = (
  email: string,
  snapshot: RecipientSnapshot,
): Pick<TemplateValues, 'contact' | 'organization'> => ({
  contact: {
    email,
    firstName: snapshot.first_name ?? null,
    lastName: snapshot.last_name ?? null,
    attributes: snapshot.attributes ?? {},
  },
  organization: { name: snapshot.organization ?? '' },
})
